/** What is refused when it is compiled, with its place and what to write. */
import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/data/outcome.ts';
import { compileCondition } from '../cel.ts';

const REFUSED: [source: string, code: string, position: [line: number, column: number], message: RegExp][] = [
  ['', 'Syntax', [1, 1], /^line 1, column 1: the expression is empty$/],
  ['1 +', 'Syntax', [1, 4], /unexpected end of the expression/],
  ['(1 + 2', 'Syntax', [1, 7], /expected \) before the end/],
  ['[1, 2)', 'Syntax', [1, 6], /expected \] before \)/],
  ['true && )', 'Syntax', [1, 9], /unexpected \)/],
  ['true && "a', 'Syntax', [1, 9], /this quote is not closed/],
  [
    'Hello world',
    'Syntax',
    [1, 7],
    /unexpected world; text needs its own quotes: "Hello world" \(in YAML '"Hello world"'\)$/,
  ],
  ['ada@example.com', 'Syntax', [1, 4], /unexpected @; text needs its own quotes/],
  [
    'done',
    'Syntax',
    [1, 1],
    /unknown name 'done'; for node data write nodes\.<id>.*; text needs its own quotes/,
  ],
  [
    "{{ $('trigger').data_content.ok }}",
    'Syntax',
    [1, 1],
    /: CEL does not support \{\{ \}\}: write nodes\.trigger\.data_content\.ok$/,
  ],
  [
    '"{{ $item.x }}" != "" && {{steps.a}} == heads',
    'Syntax',
    [1, 26],
    /: CEL does not support \{\{ \}\}: write nodes\.trigger\.data_content\.name, and put text in quotes$/,
  ],
  [
    "$('ask').text_content == heads",
    'Syntax',
    [1, 1],
    /: CEL does not support \$\('ask'\)\.text_content: write nodes\.ask\.text_content$/,
  ],
  ["$('ask')", 'Syntax', [1, 1], /: CEL does not support \$\('ask'\): write nodes\.ask\.data_content$/],
  [
    'true && $json.ok',
    'Syntax',
    [1, 9],
    /: CEL does not support \$json\.ok: write nodes\.trigger\.data_content\.ok$/,
  ],
  [
    '$json.body.amount > 100',
    'Syntax',
    [1, 1],
    /: CEL does not support \$json\.body\.amount: write nodes\.trigger\.data_content\.amount$/,
  ],
  [
    "$('hook').item.json.amount",
    'Syntax',
    [1, 1],
    /: CEL does not support \$\('hook'\)\.item\.json\.amount: write nodes\.hook\.data_content\.amount$/,
  ],
  ["$('hook').first().json.amount", 'Syntax', [1, 1], /: write nodes\.hook\.data_content\.amount$/],
  ["{{ $('hook').json.body.amount }}", 'Syntax', [1, 1], /: write nodes\.hook\.data_content\.amount$/],
  ["$('lines').item.name", 'Syntax', [1, 1], /: write nodes\.lines\.item\.name$/],
  [
    '$item.quantity > 0',
    'Syntax',
    [1, 1],
    /: CEL does not support \$item\.quantity: on an edge write nodes\.<ID of the group>\.item\.quantity$/,
  ],
  ['$vars.limit > 0', 'Syntax', [1, 1], /: CEL does not support \$vars\.limit: write vars\.limit$/],
  ['nodes.a.text_content = "a"', 'Syntax', [1, 22], /CEL compares with ==/],
  ['nodes.a.text_content === "a"', 'Syntax', [1, 22], /CEL compares with == and !=/],
  ['nodes.a.text_content <> "="', 'Syntax', [1, 22], /CEL compares with !=/],
  ['nodes.a.text_content == "and" and true', 'Syntax', [1, 31], /as &&, \|\| and !/],
  ['not nodes.a.data_content.ok', 'Syntax', [1, 1], /as &&, \|\| and !/],
  ['Terms and conditions', 'Syntax', [1, 7], /unexpected and; text needs its own quotes/],
  ['True', 'Syntax', [1, 1], /CEL writes true, false and null/],
  ['true &&\n  = false', 'Syntax', [2, 3], /CEL compares with ==/],
  ['1 + 2', 'Type', [1, 1], /must be of type bool, not int/],
  ['"a" > 1', 'Type', [1, 1], /no such overload: string > int/],
  ['!"a"', 'Type', [1, 1], /no such overload/],
  ['unknown > 1', 'Syntax', [1, 1], /unknown name 'unknown'/],
  ['true || x.y', 'Syntax', [1, 9], /unknown name 'x'/],
  [
    'item.x == 1',
    'Syntax',
    [1, 1],
    /unknown name 'item'; .* on an edge write nodes\.<ID of the group>\.item/,
  ],
  ['index == 1', 'Syntax', [1, 1], /unknown name 'index'; .*\.index/],
  ['nodes.a.body == 1', 'Syntax', [1, 9], /use one of .text_content/],
  ['nodes == 1', 'Syntax', [1, 1], /write nodes.<id>/],
  ['nodes.all(n, true)', 'Syntax', [1, 1], /write nodes.<id>/],
  ['nodes[nodes.a.text_content].text_content == ""', 'Syntax', [1, 1], /cannot be computed/],
  ['sum([1]) == 1', 'Syntax', [1, 1], /sum\(\) is not supported: write value\.sum\(…\)/],
  ['"5".int() == 5', 'Syntax', [1, 5], /int\(\) is not supported: write int\(value\)/],
  ['round(1.5) == 2', 'Syntax', [1, 1], /round\(\) is not supported: write math\.round\(number\)/],
  ['"a".toUpperCase() == "A"', 'Syntax', [1, 5], /toUpperCase\(\) is not supported: write upperAscii\(\)/],
  ['[1].map(x => x) == []', 'Syntax', [1, 11], /write list\.map\(x, x\.total\)/],
  ['nodes.a.data_content.b ?? "x" == ""', 'Syntax', [1, 24], /orValue\("default"\)/],
  ['math.cosine(1) == 1', 'Syntax', [1, 6], /math\.cosine\(\) is not supported: use one of greatest/],
  ['math == 1', 'Syntax', [1, 1], /unknown name 'math'/],
  ['[1].sortBy(x, y) == []', 'Syntax', [1, 15], /unknown name 'y'/],
  ['[1].transformList(i, v, w) == []', 'Syntax', [1, 25], /unknown name 'w'/],
  ['[1].sortBy(1, true) == []', 'Syntax', [1, 12], /requires a name as its iteration variable/],
  ['b"{}".json() == {}', 'Syntax', [1, 7], /json\(\) is not supported/],
  ['process.exit()', 'Syntax', [1, 9], /exit\(\) is not supported/],
  ['[1].all(nodes, true)', 'Syntax', [1, 1], /reserved name/],
  ['vars == 1', 'Syntax', [1, 1], /write vars\.<name>/],
  ['vars[run.id] == 1', 'Syntax', [1, 1], /write vars\.<name>/],
  ['vars.exists(v, true)', 'Syntax', [1, 1], /write vars\.<name>/],
  ['run.name == ""', 'Syntax', [1, 5], /after run use one of \.id, \.workflow/],
  ['previous.body == ""', 'Syntax', [1, 10], /after previous use one of \.text_content/],
  ['[1].all(1, true)', 'Syntax', [1, 9], /iteration variable/],
  ['true ? 1 : "a"', 'Type', [1, 1], /same type/],
  ['"{{ $index }}" == 1 + 1 + "a"', 'Type', [1, 19], /no such overload/],
];

test('in a node with forEach, $item is written as item', () => {
  const error = errorOf(() => compileCondition('$item.quantity > 0', { forEach: true }));
  expect(error).toMatchObject({
    message: 'line 1, column 1: CEL does not support $item.quantity: write item.quantity',
  });
});

test.each(REFUSED)('%j is refused when it is compiled', (source, code, [line, column], message) => {
  const error = errorOf(() => compileCondition(source));
  expect(error).toMatchObject({ code, message: expect.stringMatching(message), position: { line, column } });
});
