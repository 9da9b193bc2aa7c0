/** What conditions and value expressions mean, and what they say where they mean nothing. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf, outcomeOf } from '../test/support/data/outcome.ts';
import {
  compileCondition,
  compileValueExpression,
  conditionReferences,
  evaluateCondition,
  evaluateValue,
} from './cel.ts';
import { parseExact } from './exact/exactNumber.ts';
import { ExpressionError, MissingValueError } from './expression/errors.ts';
import type { NodeOutput, Scope } from './expression/scope.ts';

const ORDER = JSON.parse(`{
  "count": 5, "price": 9.5, "index": 1, "name": "Ada", "vip": true, "note": null, "when": "2026-01-31T22:30:00Z",
  "items": [{"sku": "A-1", "qty": 2}, {"sku": "B-2", "qty": 0}], "list": [1, 2, 3], "tags": ["new", "eu"],
  "company": {"constructor": "Acme", "deep": [{"constructor": {"name": "x"}}]}, "any key": 1, "length": 7
}`) as unknown;

const OUTPUTS: Record<string, NodeOutput> = {
  trigger: { text_content: '', data_content: ORDER },
  agent: { text_content: 'yes', data_content: null, error: { message: 'refused' } },
  constructor: { text_content: 'a node may have this id', data_content: 1 },
};

const SCOPE: Scope = {
  node: (id) => (Object.hasOwn(OUTPUTS, id) ? OUTPUTS[id] : undefined),
  item: { qty: 2 },
  index: 3,
  previous: 'agent',
  run: {
    id: 'orders-1',
    workflow: 'orders',
    project: 'shop',
    accepted: '2026-01-31T22:30:00.000Z',
    localTime: '2026-01-31T22:30:00Z',
    timeZone: 'UTC',
    test: false,
  },
  vars: { url: 'https://example.com', 'limits.json': { max: 5 } },
};

/** `order` stands for the data of the trigger. */
const written = (source: string) => source.replaceAll('order', 'nodes.trigger.data_content');
const holds = (source: string) =>
  evaluateCondition(compileCondition(written(source), { forEach: true }), SCOPE);
const valueOf = (source: string, scope = SCOPE) =>
  evaluateValue(compileValueExpression(written(source), { forEach: true }), scope);

const TRUE = [
  'true',
  'order.count > 3',
  'order.count == 5',
  '5 == order.count',
  'order.count != 4',
  'order.count >= 5.0',
  'order.count + 1 == 6',
  '1 + order.count == 6',
  'order.count - 1 < order.count * 2',
  'order.count % 2 == 1',
  'order.count / 2 == 2.5',
  '7 / 2 == 3',
  '(1 + 1.5) * 2 == 5.0',
  'order.price * 2 == 19',
  '-order.price < 0',
  'size(order.list) == 3',
  'order.list.size() < order.count',
  'order.count in [1, 5]',
  '2 in order.list',
  '"eu" in order.tags',
  '"name" in order',
  '!("nope" in order)',
  'order.list[0] == 1',
  'order.list[order.index] == 2',
  'order.items[1].sku == "B-2"',
  'order["any key"] == 1',
  'order.length == 7',
  'order.note == null',
  'order.name != null',
  'order.vip && order.name == "Ada"',
  'order.name == 1 || order.vip',
  'order.list == [1, 2, 3]',
  'order.items[0] == {"sku": "A-1", "qty": 2}',
  'has(order.name) && !has(order.nope)',
  'has(nodes.trigger) && !has(nodes.nowhere)',
  '!has(nodes.nowhere) || nodes.nowhere.text_content == ""',
  'has(nodes.agent.error) && nodes.agent.error.message == "refused"',
  '!has(nodes.trigger.error)',
  'nodes.agent.text_content == "yes"',
  'nodes["agent"].text_content == "yes"',
  'nodes.constructor.data_content == 1',
  'order.company.constructor == "Acme"',
  'order.company.deep[0].constructor.name == "x"',
  'order.company == order.company',
  'order.items.all(i, i.sku.size() == 3)',
  'order.items.exists(i, i.qty == 0)',
  'order.items.exists_one(i, i.qty > 1)',
  'order.items.filter(i, i.qty > 0).map(i, i.sku) == ["A-1"]',
  'order.items.map(i, i.qty > 0, i.sku)[0] == "A-1"',
  'order.list.map(x, x * 2) == [2.0, 4.0, 6.0]',
  'order.company.all(key, key == "constructor" || key == "deep")',
  'order.name.startsWith("A") && order.name.endsWith("a") && order.name.contains("d")',
  'order.name.lowerAscii() == "ada" && " x ".trim() == "x"',
  '"a,b".split(",").join("-") == "a-b"',
  'order.name.indexOf("d") == 1 && order.name.substring(1) == "da"',
  'string(order.count) + "!" == "5!" && int("7") == 7 && double("1.5") == 1.5',
  'int(order.price) == 9 && bool("true")',
  'type(order.count) == double && type(order.name) == string',
  'timestamp(order.when) < timestamp("2026-02-01T00:00:00Z")',
  'timestamp(order.when).getHours() == 22 && timestamp(order.when).getDate("Asia/Tokyo") == 1',
  'timestamp(order.when) + duration("2h") > timestamp(order.when)',
  'item.qty == 2 && index == 3 && index + 1 == 4 && index == 3.0',
  'order.vip ? true : false',
];

test.each(TRUE)('%s holds', (source) => {
  expect(holds(source)).toBe(true);
  expect(holds(`!(${source})`)).toBe(false);
});

const MISSING: [source: string, message: RegExp][] = [
  [
    'vars.none == ""',
    /^the project has no variable 'none': add the key to the ConfigMap windlass-variables; check/,
  ],
  ['vars["limits.json"].min == 1', /vars\['limits\.json'\] has no member \.min: it has 1 member/],
  ['previous.headers.a == ""', /^previous\.headers: there are no headers/],
  [
    'nodes.nowhere.text_content == ""',
    /^nodes\.nowhere\.\w+: the node 'nowhere' did not run; check with has/,
  ],
  [
    'order.nope == 1',
    /^nodes\.trigger\.data_content has no member \.nope: it has 13 members; check with has/,
  ],
  ['order.items[5].sku == ""', /data_content\.items has no element \[5\]: it has 2 elements/],
  ['order.items[-1].sku == ""', /does not exist/],
  ['order.items[0].name.first == ""', /items\[0\] has no member \.name: it has 2 members/],
  ['order.name.first == ""', /data_content\.name is a string and has no \.first/],
  ['order.note.x == 1', /data_content\.note is null and has no \.x/],
  ['order.items.all(i, i.nope == 1)', /^i\.nope does not exist/],
  ['nodes.trigger.error.message == ""', /nodes\.trigger\.error: the node did not fail/],
  ['item.nope == 1', /^item has no member \.nope: it has 1 member/],
  ['order.toString == 1', /has no member \.toString: it has/],
  ['order.__proto__ == 1', /has no member \.__proto__: it has/],
  ['order.list.length == 3', /list is a list/],
];

test.each(MISSING)('%s fails and names the deepest part that exists', (source, message) => {
  expect(() => holds(source)).toThrow(MissingValueError);
  expect(() => holds(source)).toThrow(message);
});

const UNFIT: [source: string, message: RegExp][] = [
  ['order.name', /must yield true or false/],
  ['order.count > "3"', /no such overload: double > string/],
  ['order.name + 1 == "x"', /no such overload: string \+ int/],
  ['order.count', /must yield true or false/],
  ['order.items in [1]', /left side of in must be a string/],
  ['timestamp("yesterday or so ......") < timestamp(0)', /ISO 8601/],
  ['timestamp(0).getHours("No/Where") == 1', /cannot be evaluated/],
];

test.each(UNFIT)('%s fails on this data', (source, message) => {
  expect(errorOf(() => holds(source))).toMatchObject({
    code: 'Type',
    message: expect.stringMatching(message),
  });
});

const REFUSED: [source: string, code: string, position: [line: number, column: number], message: RegExp][] = [
  ['', 'Syntax', [1, 1], /^line 1, column 1: the expression is empty$/],
  ['1 +', 'Syntax', [1, 4], /unexpected end of the expression/],
  ['(1 + 2', 'Syntax', [1, 7], /expected \) before the end/],
  ['[1, 2)', 'Syntax', [1, 6], /expected \] before \)/],
  ['true && )', 'Syntax', [1, 9], /unexpected \)/],
  ['true && "a', 'Syntax', [1, 9], /this quote is not closed/],
  ['Hello world', 'Syntax', [1, 7], /unexpected world; text needs its own quotes.*'"some text"'/],
  ['ada@example.com', 'Syntax', [1, 4], /unexpected @; text needs its own quotes/],
  [
    'done',
    'Syntax',
    [1, 1],
    /unknown name 'done'; for node data write nodes\.<id>.*; text needs its own quotes/,
  ],
  ["{{ $('trigger').data_content.ok }}", 'Syntax', [1, 1], /CEL does not support \{\{ \}\} and \$\('…'\)/],
  ['true && $json.ok', 'Syntax', [1, 9], /CEL does not support .*: write nodes\.trigger\.data_content/],
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

test.each(REFUSED)('%j is refused when it is compiled', (source, code, [line, column], message) => {
  const error = errorOf(() => compileCondition(source));
  expect(error).toMatchObject({ code, message: expect.stringMatching(message), position: { line, column } });
});

test('the nodes that a condition names are known, each once', () => {
  const condition = compileCondition(
    'has(nodes.a.error) || nodes.b.data_content.x > 1 && nodes["c"].text_content != "" && nodes.b.data_content.l.all(x, x < nodes.d.data_content)',
  );
  expect(conditionReferences(condition)).toEqual(['a', 'b', 'c', 'd']);
  expect(conditionReferences(compileCondition('"nodes.x" != ""'))).toEqual([]);
});

test('the names that an expression reads are known, and which variables must exist', () => {
  const names = (source: string) => compileValueExpression(source).names;
  expect(names('previous.text_content + run.id + vars.a + vars["b.json"].c')).toEqual({
    nodes: [],
    previous: true,
    run: true,
    variables: ['a', 'b.json'],
    requiredVariables: ['a', 'b.json'],
  });
  expect(names('has(vars.a) ? vars.a : vars.?b.orValue("") + vars.c')).toMatchObject({
    variables: ['a', 'c', 'b'],
    requiredVariables: ['c'],
  });
  expect(
    names('[{"a": 1}].map(vars, vars.a) + [1].map(run, run) + [2].map(previous, previous)'),
  ).toMatchObject({
    previous: false,
    run: false,
    variables: [],
  });
});

test('an evaluation reads only the referenced nodes', () => {
  const asked: string[] = [];
  const scope: Scope = { node: (id) => void asked.push(id) };
  expect(evaluateCondition(compileCondition('has(nodes.a) || !has(nodes.b)'), scope)).toBe(true);
  expect(asked).toEqual(['a', 'b']);
});

const VALUES: [source: string, value: unknown][] = [
  ['previous.text_content', 'yes'],
  ['has(previous.error) || previous.data_content == null', true],
  ['run.id + run.workflow + run.project + string(run.test)', 'orders-1ordersshopfalse'],
  ['timestamp(run.accepted).getFullYear()', 2026],
  ['vars.url', 'https://example.com'],
  ['vars["limits.json"].max + 1', 6],
  ['vars.?none.orValue("x")', 'x'],
  ['has(vars.none)', false],
  ['order.count + 1', 6],
  ['1 + 1', 2],
  ['1u + 2u', 3],
  ['index', 3],
  ['{1: "one"}', { 1: 'one' }],
  ['{"name": order.name, "n": [1, 2.5, null, true]}', { name: 'Ada', n: [1, 2.5, null, true] }],
  ['order.company', { constructor: 'Acme', deep: [{ constructor: { name: 'x' } }] }],
  ['order.items.map(i, i.sku)', ['A-1', 'B-2']],
  ['timestamp(order.when)', '2026-01-31T22:30:00.000Z'],
  ['duration("90m")', '5400s'],
];

test.each(VALUES)('%s yields JSON', (source, value) => {
  expect(valueOf(source)).toEqual(value);
});

test.each(['duration(secret)', 'bool(secret)', 'int(secret)', 'timestamp(secret)', 'number * number'])(
  '%s fails on data that do not fit, and the message quotes none of them',
  (source) => {
    const scope: Scope = { node: () => ({ text_content: 'card 4111', data_content: 4111_4111_4111 }) };
    const written = source
      .replaceAll('secret', 'nodes.a.text_content')
      .replaceAll('number', 'int(nodes.a.data_content)');
    const { code, message } = errorOf(() => valueOf(written, scope));
    expect(code).toBe('Type');
    expect(message).not.toMatch(/card|4111/);
  },
);

const NOT_JSON = ['1.0 / 0.0', 'type(1)', 'b"abc"'];

test.each(NOT_JSON)('%s is refused, because JSON cannot hold it', (source) => {
  expect(errorOf(() => valueOf(source)).code).toBe('Type');
});

const EXACT: Scope = {
  node: () => ({
    text_content: '',
    data_content: parseExact(`{
      "big": 12345678901234567890, "same": 1.2345678901234567890e19, "mid": 9007199254740993,
      "decimal": 0.1000000000000000055511151231257827, "n": 5, "text": "12345678901234567890",
      "list": [12345678901234567890, 1], "o": {"constructor": 1, "big": 12345678901234567890}
    }`),
  }),
};
const exactValue = (source: string) =>
  JSON.stringify(valueOf(source.replaceAll('$', 'nodes.a.data_content.'), EXACT));

test.each([
  ['$big', '12345678901234567890'],
  ['{"a": [$decimal]}', '{"a":[0.1000000000000000055511151231257827]}'],
  ['$o.big', '12345678901234567890'],
  ['$big == $same', 'true'],
  ['$big != $same', 'false'],
  ['$big == $mid', 'false'],
  ['$mid == 9007199254740993', 'true'],
  ['9007199254740993 == $mid', 'true'],
  ['$mid == 9007199254740992', 'false'],
  ['$big == 12345678901234567000.0', 'false'],
  ['0.1 == $decimal', 'false'],
  ['$n == $big', 'false'],
  ['$big == $text', 'false'],
  ['$big == null', 'false'],
  ['$big in $list', 'true'],
  ['$list == $list', 'true'],
  ['$mid in [9007199254740993]', 'true'],
  ['9007199254740993 in [$mid]', 'true'],
  ['[$mid] == [9007199254740993]', 'true'],
  ['{"a": $mid} != {"a": 9007199254740992}', 'true'],
  ['$list.map(x, x == $big)', '[true,false]'],
  ['string($big) == $text', 'true'],
  ['double($decimal)', '0.1'],
  ['has($big.text)', 'false'],
  ['9007199254740993', '9007199254740993'],
])('%s yields %s: no digit of an exact number is lost', (source, value) => {
  expect(exactValue(source)).toBe(value);
});

test.each([
  '$big + 1',
  '1.5 * $decimal',
  '-$big',
  '$n - $big',
  '$big < $mid',
  '$decimal >= 0',
  '"a" + $big',
  'int($mid)',
  '$list.map(x, x + 1)',
])('%s fails and says what an exact number allows, not its digits', (source) => {
  const { code, message } = errorOf(() => exactValue(source));
  expect(code).toBe('Type');
  expect(message).toContain('only == and != are exact, string(…) gives its digits, and double(…) rounds it');
  expect(message).not.toMatch(/\d{6}/);
});

test('an exact number has no members', () => {
  expect(errorOf(() => exactValue('$big.text')).message).toContain('big is a number and has no .text');
});

test('an evaluation changes nothing', () => {
  const before = structuredClone(ORDER);
  valueOf('order.items.map(i, i.qty > 0, i) + order.items');
  holds('order.company.constructor == "Acme"');
  expect(ORDER).toEqual(before);
});

test('what data yields is never parsed', () => {
  const scope: Scope = {
    node: () => ({ text_content: 'nodes.a.data_content || {{ $index }}', data_content: 1 }),
  };
  expect(valueOf('nodes.a.text_content + "!"', scope)).toBe('nodes.a.data_content || {{ $index }}!');
});

const ATOMS = [
  'order',
  'item',
  'index',
  'true',
  'null',
  '1',
  '2.5',
  '1u',
  '"a"',
  '[1, "b"]',
  '{"a": 1}',
  'nodes.agent',
  'x',
];
const shapes: ((a: string, b: string, c: string) => string)[] = [
  (a, b) => `${a} + ${b}`,
  (a, b) => `${a} == ${b}`,
  (a, b) => `(${a} < ${b})`,
  (a, b) => `${a} in ${b}`,
  (a, b) => `(${a} && ${b} || ${a})`,
  (a, b, c) => `(${a} ? ${b} : ${c})`,
  (a, b) => `${a}[${b}]`,
  (a) => `${a}.items`,
  (a) => `has(${a}.name)`,
  (a) => `!${a}`,
  (a) => `-${a}`,
  (a, b) => `${a}.map(x, ${b})`,
  (a, b) => `${a}.filter(x, ${b})`,
  (a, b) => `${a}.exists(x, ${b})`,
  (a) => `size(${a})`,
  (a) => `string(${a})`,
  (a) => `int(${a})`,
  (a) => `timestamp(${a})`,
  (a) => `duration(${a})`,
  (a, b) => `${a}.contains(${b})`,
  (a, b) => `${a}.split(${b}).join(${b})`,
  (a, b) => `${a} % ${b} / ${a} * ${b}`,
  (a, b) => `${a}.getHours(${b})`,
  (a, b) => `${a}.substring(${b})`,
  (a, b) => `${a}.sortBy(x, ${b})`,
  (a, b) => `${a}.groupBy(x, ${b})`,
  (a, b) => `${a}.transformList(i, x, ${b})`,
  (a, b) => `${a}.transformMapEntry(i, x, ${b})`,
  (a, b) => `${a}.all(i, x, ${b})`,
  (a, b) => `cel.bind(x, ${a}, ${b})`,
  (a) => `${a}.sort().distinct()`,
  (a, b) => `${a}.flatten(${b})`,
  (a, b) => `${a}.format([${b}])`,
  (a, b) => `${a}.format(${b})`,
  (a, b) => `${a}.replace(${b}, ${a})`,
  (a, b) => `${a}.matches(${b})`,
  (a, b) => `regex.extract(${a}, ${b}).orValue(${b})`,
  (a, b) => `${a}[?${b}].orValue(${a})`,
  (a, b) => `${a}.?items.or(optional.of(${b})).value()`,
  (a, b) => `math.greatest(${a}, ${b})`,
  (a) => `json.decode(json.encode(${a}))`,
  (a) => `base64.encode(bytes(${a}))`,
  (a, b) => `${a}.merge(${b})`,
  (a) => `${a}.sum()`,
];
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.constantFrom(...ATOMS),
    fc
      .tuple(fc.constantFrom(...shapes), tie('expression'), tie('expression'), tie('expression'))
      .map(([shape, a, b, c]) => shape(a, b, c)),
  ),
}));

test('whatever the expression is, it yields JSON or fails with an ExpressionError', () => {
  fc.assert(
    fc.property(expression, (source) => {
      const { value, error } = outcomeOf(() => valueOf(source));
      const clear =
        error === undefined ? JSON.stringify(value) !== undefined : error instanceof ExpressionError;
      expect(clear).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test('whatever the text is, compiling gives an expression or an ExpressionError', () => {
  const fragment = fc.constantFrom(
    'nodes',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '&&',
    '?',
    ':',
    'has',
    '1',
    'e',
    'all',
  );
  const source = fc.array(fc.oneof(fragment, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 20 });
  fc.assert(
    fc.property(source, (parts) => {
      const { error } = outcomeOf(() => compileCondition(parts.join('')));
      expect(error === undefined || error instanceof ExpressionError).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
