/** What conditions and value expressions mean, and what they say about data that do not fit. */
import { expect, test } from 'vitest';
import { errorOf } from '../test/support/data/outcome.ts';
import { holds, ORDER, valueOf } from '../test/support/data/orderScope.ts';
import { compileCondition, compileValueExpression, conditionReferences, evaluateCondition } from './cel.ts';
import { MissingValueError } from './expression/errors.ts';
import type { Scope } from './expression/scope.ts';

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

const LONG = 'x'.repeat(200);

const UNFIT: [source: string, message: RegExp][] = [
  ['order.name', /must yield true or false/],
  ['order.count > "3"', /^count is a number, and "3" is a text$/],
  ['has(order.name) && order.name > 100', /^name is a text, and 100 is a number$/],
  ['100 <= order.note', /^100 is a number, and note is null$/],
  ['order.items[0].sku < order.count', /^items\[0\]\.sku is a text, and count is a number$/],
  ['order.items >= 3', /^items is a list, and 3 is a number$/],
  ['nodes.trigger.text_content > 3', /^nodes\.trigger\.text_content is a text, and 3 is a number$/],
  // Two operands with one beginning are quoted no longer than others.
  [`dyn("${LONG}").size() > dyn("${LONG}")`, /^dyn\("x{75}… is a number, and dyn\("x{75}… is a text$/],
  ['order.note > order.note', /no such overload: null > null/],
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
