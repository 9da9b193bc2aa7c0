/** However an expression is written and whatever it is given, it ends soon, within its budget. */
import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/data/outcome.ts';
import { compileCondition, compileValueExpression, evaluateCondition, evaluateValue } from '../cel.ts';
import type { Scope } from '../expression/scope.ts';
import { STEPS } from './budget.ts';
import { CEL_LIMITS } from './environment.ts';

const numbers = Array.from({ length: 50_000 }, (_, index) => index);
const text = 'a'.repeat(500_000);
const BIG: Scope = {
  node: () => ({
    text_content: text,
    data_content: {
      numbers,
      objects: numbers.slice(0, 10_000).map((value) => ({ value, inner: { list: [value] } })),
      wide: Object.fromEntries(numbers.slice(0, 10_000).map((value) => [`k${value}`, value])),
      needle: `${'a'.repeat(1000)}b${'a'.repeat(200_000)}`,
    },
  }),
};

test('an expression may be 4096 characters long, 32 deep and 500 nodes large', () => {
  const depth = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)} == 1 || true`;
  expect(errorOf(() => compileCondition(`true${' '.repeat(CEL_LIMITS.sourceLength)}`)).code).toBe('Limit');
  expect(errorOf(() => compileCondition(depth(100))).code).toBe('Limit');
  expect(errorOf(() => compileCondition(Array(501).fill('true').join(' && '))).code).toBe('Limit');
  expect(errorOf(() => compileCondition(`1 in [${Array(102).fill('1').join()}]`)).code).toBe('Limit');
  const large = compileCondition(Array(250).fill('true').join('&&'));
  expect(evaluateCondition(large, BIG)).toBe(true);
});

const pad = ' '.repeat(3500);
const doubling = (of: string) => `[${of}]${'.map(a, a + a)'.repeat(30)}`;

/** Each of these takes between seconds and for ever where nothing bounds it. */
const ENDLESS = [
  'order.numbers.all(a, order.numbers.all(b, order.numbers.all(c, a + b + c >= 0)))',
  'order.numbers.exists(a, order.numbers.exists(b, a + b < 0))',
  'order.numbers.all(a, order.numbers.all(b, false) || true)',
  'order.numbers.map(a, order.numbers.map(b, a)).size() == 0',
  'order.numbers.exists(a, -1 in order.numbers)',
  'order.objects.all(a, order.objects == order.objects.filter(b, true))',
  'order.numbers.all(a, order.wide == order.wide)',
  'order.wide.all(a, order.wide.all(b, true))',
  'order.numbers.all(a, order.wide.size() > 0)',
  'order.numbers.all(a, nodes.a.text_content.size() > 0)',
  'order.numbers.all(a, nodes.a.text_content + "x" != "")',
  'order.numbers.all(a, nodes.a.text_content < "b")',
  'order.numbers.all(a, timestamp(0).getHours("Europe/Berlin") >= 0)',
  'nodes.a.text_content.contains(order.needle)',
  'nodes.a.text_content.lastIndexOf(order.needle) == 0',
  'nodes.a.text_content.split(order.needle).size() == 0',
  'nodes.a.text_content.split("").map(c, c + c + c).size() == 0',
  'duration(nodes.a.text_content) == duration("1s")',
  'int(nodes.a.text_content) == 1',
  `${doubling('["x"]')}.size() == 0`,
  `${doubling('"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"')}.size() == 0`,
  'order.numbers.all(a, a.nope)',
  'order.numbers.map(a, a.nope || true).size() == 0',
  'order.numbers.all(a, has(a.nope.nope))',
  `order.numbers.all(a, ${pad} (a || a) || a.nope)`,
  `order.numbers.exists(a, true && ${pad} a.nope == 1 || a)`,
  'order.numbers.transformList(i, v, order.numbers.transformList(j, w, 1)).size() == 0',
  'order.numbers.all(i, v, order.numbers.all(j, w, true))',
  'order.numbers.exists(i, v, v.nope)',
  'order.numbers.sortBy(a, order.numbers.sort().size()).size() == 0',
  'order.numbers.all(a, order.objects.distinct().size() > 0)',
  'order.numbers.all(a, order.objects.groupBy(o, o.value).size() > 0)',
  'order.numbers.all(a, json.encode(order.objects).size() > 0)',
  'order.numbers.all(a, json.decode(nodes.a.text_content).size() > 0)',
  'order.numbers.all(a, "%s".format([order.objects]).size() > 0)',
  'lists.range(9000000000000).size() == 0',
  'nodes.a.text_content.replace("a", nodes.a.text_content) == ""',
  'nodes.a.text_content.replace("", nodes.a.text_content) == ""',
  'order.numbers.map(a, nodes.a.text_content).join() == ""',
  'order.numbers.map(a, "").join(nodes.a.text_content) == ""',
  'nodes.a.text_content.matches("(a{1,100}){1,9}b")',
  'order.numbers.all(a, nodes.a.text_content.matches("a$"))',
  'order.numbers.all(a, {"k": "v"}.merge(order.wide).size() > 0)',
];

test.each(ENDLESS)('%s ends within the budget', (source) => {
  const condition = compileCondition(source.replaceAll('order', 'nodes.a.data_content'));
  expect(errorOf(() => evaluateCondition(condition, BIG)).code).toBe('Limit');
});

test('a budget that was used up is whole again for the next evaluation', () => {
  const condition = compileCondition('nodes.a.data_content.all(a, nodes.a.data_content.all(b, a + b >= 0))');
  const scopeOf = (data: unknown): Scope => ({ node: () => ({ text_content: '', data_content: data }) });
  expect(errorOf(() => evaluateCondition(condition, scopeOf(numbers))).message).toContain(`${STEPS} steps`);
  expect(evaluateCondition(condition, scopeOf([1, 2]))).toBe(true);
});

test.each(['(a+)+$', '(a|aa)+b', '(.*)*x', '(a|a)*b'])(
  'the pattern %s takes time linear in the text',
  (pattern) => {
    const condition = compileCondition(`nodes.a.text_content.matches("${pattern}") || true`);
    expect(evaluateCondition(condition, BIG)).toBe(true);
  },
);

test('a loop over ten thousand objects is well within the budget', () => {
  const condition = compileCondition(
    'nodes.a.data_content.objects.filter(o, o.value > 100 && o.inner.list[0] < 500).size() == 399',
  );
  expect(evaluateCondition(condition, BIG)).toBe(true);
});

test('a result larger than 512 Ki characters is refused', () => {
  const expression = compileValueExpression('[nodes.a.text_content, nodes.a.text_content]');
  expect(errorOf(() => evaluateValue(expression, BIG)).code).toBe('Limit');
});

test('data that is nested too deep is refused, not a stack overflow', () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  const scope: Scope = { node: () => ({ text_content: '', data_content: deep }) };
  expect(errorOf(() => evaluateCondition(compileCondition('nodes.a.data_content == 1'), scope)).code).toBe(
    'Limit',
  );
});
