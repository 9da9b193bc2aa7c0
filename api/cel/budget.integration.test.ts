/** However an expression is written and whatever it is given, it ends within its budget. Takes seconds. */
import { expect, test } from 'vitest';
import { BIG } from '../../test/support/data/bigScope.ts';
import { errorOf } from '../../test/support/data/outcome.ts';
import { compileCondition, evaluateCondition } from '../cel.ts';

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

test.each(['(a+)+$', '(a|aa)+b', '(.*)*x', '(a|a)*b'])(
  'the pattern %s takes time linear in the text',
  (pattern) => {
    const condition = compileCondition(`nodes.a.text_content.matches("${pattern}") || true`);
    expect(evaluateCondition(condition, BIG)).toBe(true);
  },
);
