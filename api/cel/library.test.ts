/** The functions of expressions beyond those of cel-js, each with its result or its error. */
import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/data/outcome.ts';
import { compileValueExpression, evaluateValue } from '../cel.ts';
import { parseExact } from '../exact/exactNumber.ts';
import type { Scope } from '../expression/scope.ts';

const ITEMS = [
  { sku: 'B', price: 2.5, count: 2 },
  { sku: 'A', price: 10, count: 1 },
  { sku: 'B', price: 1, count: 4 },
];
const DATA = {
  items: ITEMS,
  when: '2026-01-31T22:30:05.120Z',
  odd: { constructor: 1, __proto__: null, name: 'x' },
  customers: [{ id: 7, name: 'Ada' }],
  orders: [
    { number: 1, customer: 7 },
    { number: 2, customer: 8 },
  ],
};
const SCOPE: Scope = { node: () => ({ text_content: 'Order A-17 and B-2', data_content: DATA }) };

const valueOf = (source: string): unknown =>
  evaluateValue(
    compileValueExpression(
      source.replaceAll('data', 'nodes.a.data_content').replaceAll('text', 'nodes.a.text_content'),
    ),
    SCOPE,
  );

const VALUES: [source: string, value: unknown][] = [
  ['[3, 1.5, 2].sort()', [1.5, 2, 3]],
  ['["b", "a"].sort()', ['a', 'b']],
  ['[true, false].sort()', [false, true]],
  ['[timestamp(2), timestamp(1)].sort()[0] == timestamp(1)', true],
  ['[duration("2s"), duration("1s")].sort()[0]', '1s'],
  ['[].sort()', []],
  ['data.items.sortBy(i, i.price).map(i, i.count)', [4, 2, 1]],
  ['data.items.sortBy(i, -i.price).map(i, i.count)', [1, 2, 4]],
  ['data.items.sortBy(i, i.sku).map(i, i.price)', [10, 2.5, 1]],
  ['[1, 1.0, "1", true, true, null, null].distinct()', [1, '1', true, null]],
  ['[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}].distinct()', [{ a: 1, b: [2] }]],
  ['[1, [2, [3]]].flatten()', [1, 2, [3]]],
  ['[1, [2, [3]]].flatten(2)', [1, 2, 3]],
  ['[1, [2]].flatten(0)', [1, [2]]],
  ['[1, 2, 3].slice(1, 3)', [2, 3]],
  ['[1, 2].reverse()', [2, 1]],
  ['lists.range(3)', [0, 1, 2]],
  ['lists.range(0)', []],
  ['[5, 6].first().value()', 5],
  ['[5, 6].last().orValue(0)', 6],
  ['[].first().orValue(0)', 0],
  ['data.items.map(i, i.price * i.count).sum()', 19],
  ['[1, 2].sum() / 2', 1],
  ['[1, 2.5].sum()', 3.5],
  ['[].sum()', 0],
  ['data.items.groupBy(i, i.sku).B.size()', 2],
  ['data.items.groupBy(i, i.sku).transformMap(k, v, v.map(i, i.count).sum())', { B: 6, A: 1 }],
  ['[1, 2, 3].groupBy(x, x % 2 == 0)', { false: [1, 3], true: [2] }],
  ['["constructor"].groupBy(x, x)', { constructor: ['constructor'] }],
  ['["__proto__"].groupBy(x, x).transformList(k, v, k)', ['__proto__']],
  [
    'cel.bind(byId, data.customers.groupBy(c, c.id), data.orders.map(o, byId[?o.customer][?0].?name.orValue("?")))',
    ['Ada', '?'],
  ],
  ['[2, 3].all(i, v, v == i + 2)', true],
  ['[2, 3].exists(i, v, i == 1 && v == 3)', true],
  ['[1, "a"].exists(i, v, v > 0)', true],
  ['[1, 2, 2].existsOne(x, x == 2)', false],
  ['{"a": 1}.existsOne(k, v, k == "a" && v == 1)', true],
  ['[5, 6].transformList(i, v, i * 10 + v)', [5, 16]],
  ['[5, 6].transformList(i, v, v > 5, v)', [6]],
  ['{"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 2)', { b: 4 }],
  ['{"a": 1}.transformMapEntry(k, v, {k + "2": v})', { a2: 1 }],
  ['data.odd.transformList(k, v, k)', ['constructor', 'name']],
  ['{"a": 1, "b": 2}.merge({"b": 3})', { a: 1, b: 3 }],
  ['data.odd.merge({"b": 3}).constructor', 1],
  ['[[1]].map(i, i.transformList(i, v, v + i))', [[1]]],
  ['[1].map(math, math + 1)', [2]],
  ['"a-b-c".replace("-", "+")', 'a+b+c'],
  ['"a-b-c".replace("-", "$&", 1)', 'a$&b-c'],
  ['"ab".replace("", "-")', '-a-b-'],
  ['"abc".charAt(1)', 'b'],
  ['"abc".charAt(3)', ''],
  ['"a😀".reverse()', '😀a'],
  ['strings.quote("a\\"\\n\\\\")', '"a\\"\\n\\\\"'],
  ['"%s has %d of %.2f".format(["Ada", 3.0, 2.345])', 'Ada has 3 of 2.35'],
  ['"%d%% %x %X %o %b %b".format([5, 255, "hi", 8, 5, true])', '5% ff 6869 10 101 1'],
  ['"%s %s %s".format([[1, "a"], {"b": 1.5}, null])', '[1, a] {b: 1.5} null'],
  ['"%e".format([1234.5])', '1.234500e+03'],
  ['"%s".format([timestamp(0)])', '1970-01-01T00:00:00Z'],
  ['math.round(2.5) + math.round(-2.5) + math.round(1.4)', 1],
  ['[math.ceil(1.1), math.floor(-1.1), math.trunc(-1.9)]', [2, -2, -1]],
  ['[math.abs(-2), math.abs(-2.5), math.sign(-3), math.sign(2.5), math.sqrt(9)]', [2, 2.5, -1, 1, 3]],
  ['math.greatest(1, 2.5, -3)', 2.5],
  ['math.least([3, 1, 2])', 1],
  ['math.greatest(data.items.map(i, i.price))', 10],
  ['math.isNaN(0.0 / 0.0) && math.isInf(1.0 / 0.0) && math.isFinite(1.0)', true],
  ['math.round(19.999 * 100.0) / 100.0', 20],
  ['base64.encode(bytes("hé"))', 'aMOp'],
  ['string(base64.decode("aMOp"))', 'hé'],
  ['string(base64.decode("_-8=")) != ""', true],
  ['json.encode({"a": [1, null, 2.5]})', '{"a":[1,null,2.5]}'],
  ['json.decode("{\\"a\\": {\\"constructor\\": [1]}}").a.constructor[0]', 1],
  ['json.decode("{\\"id\\": 12345678901234567890}").id', parseExact('12345678901234567890')],
  ['["a"].map(k, {k: 1, "toString": {k: k}})', [{ a: 1, toString: { a: 'a' } }]],
  ['json.decode("[1e2, 1.5]")', [100, 1.5]],
  ['json.decode("[12345678901234567890, 1234567890123456789.0e1, 1]").distinct().size()', 2],
  ['string(timestamp(data.when))', '2026-01-31T22:30:05.12Z'],
  ['string(timestamp(data.when) + duration("36h"))', '2026-02-02T10:30:05.12Z'],
  ['string(timestamp(0))', '1970-01-01T00:00:00Z'],
  ['string(duration("1h30m"))', '5400s'],
  ['int(timestamp(data.when))', 1_769_898_605],
  ['timestamp(data.when).format("yyyy-MM-dd HH:mm:ss.SSS XXX")', '2026-01-31 22:30:05.120 Z'],
  ['timestamp(data.when).format("d MMMM yy, EEEE h:mm a", "Asia/Tokyo")', '1 February 26, Sunday 7:30 AM'],
  ['timestamp(data.when).format("EEE \'at\' HH XXX", "America/New_York")', 'Sat at 17 -05:00'],
  ['timestamp("2026-07-01T00:00:00Z").format("XXX", "Asia/Kolkata")', '+05:30'],
  ['text.matches("[A-Z]-[0-9]+$")', true],
  ['text.matches("^nope")', false],
  ['text.matches("(?i)^order")', true],
  ['regex.extractAll(text, "[A-Z]-([0-9]+)")', ['17', '2']],
  ['regex.extract(text, "[0-9]+").orValue("")', '17'],
  ['regex.extract(text, "x").hasValue()', false],
  [String.raw`regex.replace("a-1 b-2", "([a-z])-([0-9])", "\\2\\1")`, '1a 2b'],
  ['regex.replace("aaa", "a", "b", 2)', 'bba'],
  ['data.?nope.?deeper.orValue("none")', 'none'],
  ['data.items[?9].or(optional.of(1)).value()', 1],
  ['optional.none().hasValue()', false],
];

test.each(VALUES)('%s', (source, value) => {
  expect(valueOf(source)).toEqual(value);
});

const FAILURES: [source: string, message: RegExp][] = [
  ['[1, "a"].sort()', /of one type, not string and number/],
  ['[{}].sortBy(x, x).size() + [[], {}].sortBy(x, x).size()', /only numbers, strings/],
  ['["1"].sum()', /sum\(\) can only add numbers/],
  ['[1].slice(1, 3)', /0 <= start <= end <= 1/],
  ['[1].flatten(-1)', /depth of 0 or more/],
  ['[1.5].groupBy(x, x)', /must be a string, an integer or a boolean/],
  ['[1, 2].transformMapEntry(i, v, {"a": v})', /the same key more than once/],
  ['[1].transformMapEntry(i, v, v)', /must yield objects/],
  ['"a".transformList(i, v, v)', /transformList/],
  ['{"a": 1}.sortBy(x, x)', /sortBy/],
  ['[1, 2].all(i, v, v)', /must yield true or false/],
  ['math.greatest([])', /a list that is not empty/],
  ['math.greatest("a", 1)', /requires numbers/],
  ['"%d".format(["a"])', /%d of format\(\) requires an integer/],
  ['"%f".format(["a"])', /%f of format\(\) requires a number/],
  ['"%q".format([1])', /has no %q/],
  ['"%s %s".format([1])', /no value for number 2/],
  ['"%.99f".format([1.0])', /at most 50 digits/],
  ['"a".charAt(2)', /index from 0 to 1/],
  ['base64.decode("*")', /text in Base64/],
  ['json.decode("{")', /valid JSON/],
  ['{"prototype": 1}', /a key in \{ \} must not be prototype: choose another key/],
  ['["constructor"].transformMapEntry(i, v, {v: 1})', /must not be constructor/],
  ['["__proto__"].map(k, {"a": {k: 1}})', /must not be __proto__/],
  ['json.decode("1e400")', /without numbers beyond the range/],
  [`json.decode("${'['.repeat(300)}12345678901234567890${']'.repeat(300)}")`, /at most 256 levels/],
  ['timestamp(0).format("yyyy Q")', /has no Q: use yyyy/],
  ['timestamp(0).format("HH", "No/Where")', /a time zone such as/],
  ['text.matches("(?=a)")', /not valid in RE2 syntax/],
  [String.raw`text.matches("(a)\\1")`, /not valid in RE2 syntax/],
  ['text.matches("(a{1000}){1000}")', /not valid in RE2 syntax/],
  ['regex.extract(text, "(a)(b)")', /at most one group/],
  [String.raw`regex.replace("a", "a", "\\1")`, /groups of the pattern/],
  ['optional.of(1)', /the result is optional: end it with \.orValue/],
  ['optional.none().value()', /not present/],
];

test.each(FAILURES)('%s fails', (source, message) => {
  const { code, message: found } = errorOf(() => valueOf(source));
  expect(['Type', 'Limit']).toContain(code);
  expect(found).toMatch(message);
});
