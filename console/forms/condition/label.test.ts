/** Conditions as labels of the canvas. */
import { expect, test } from 'vitest';
import { shortCondition } from './label.ts';
import { OPERATOR_NAMES, operatorOf, printRows, type Row, type Rows } from './rows.ts';

test.each([
  ['nodes.sum.data_content.total == 0.0', 'total == 0'],
  ['nodes.for_each.item.quantity > 0.0', 'item.quantity > 0'],
  ['nodes.sum.data_content.total >= 100.0 && state == "v2.0"', 'total >= 100 && state == "v2.0"'],
  ['a1.0 > 1.05 || list[1.0] < 20.0', 'a1.0 > 1.05 || list[1] < 20'],
  ['nodes.trigger.data_content.ok', 'trigger.ok'],
  ['has(nodes.sum.data_content.total) && nodes.sum.data_content.total > 3', 'total > 3'],
  ['has(nodes.a.data_content.?order.n) && nodes.a.data_content.order.n > 3', 'a.order.n > 3'],
  [
    '!nodes.sum.data_content.?list[?0].?n.hasValue() || !nodes.sum.data_content.list[0].n.contains("x")',
    '!list[0].n.contains("x")',
  ],
  ['has(nodes.sum.?data_content.total) && nodes.sum.data_content.total > 3', 'total > 3'],
  ['has(nodes.sum.data_content.coupon) && nodes.sum.data_content.total > 3', 'has(coupon) && total > 3'],
  ['\\"'.repeat(60_000), `${'\\"'.repeat(250)}…`],
])('the short form of the condition %s is %s', (when, short) => {
  expect(shortCondition('sum', when)).toBe(short);
});

test.each([
  // A path that begins another one.
  ['!has(d.email) && has(d.email_alt) && d.email_alt == "x"', '!has(d.email) && d.email_alt == "x"'],
  ['has(d.coupon) && has(d.coupon_code) && d.coupon_code == "x"', 'has(d.coupon) && d.coupon_code == "x"'],
  ['has(d.id) && d.id2 == 1', 'has(d.id) && d.id2 == 1'],
  ['has(d.order) && d.order.total > 1', 'has(d.order) && d.order.total > 1'],
  ['has(d.tags) && "vip" in d.tags2', 'has(d.tags) && "vip" in d.tags2'],
  // A test that is a row of its own.
  ['has(d.x) || (has(d.x) && d.x > 5)', 'has(d.x) || d.x > 5'],
  ['has(d.x) && has(d.x) && d.x > 5', 'has(d.x) && d.x > 5'],
  ['has(d.x) && d.x != 5', 'has(d.x) && d.x != 5'],
  ['!has(d.x) || d.x == 5', '!has(d.x) || d.x == 5'],
  ['!has(d.x) && d.x == 5', '!has(d.x) && d.x == 5'],
  // Brackets.
  ['(has(d.x) && d.x > 3) || (has(d.y) && d.y == "a)")', 'd.x > 3 || d.y == "a)"'],
  ['d.y == 1 && (!has(d.x) || !(3 in d.x))', 'd.y == 1 && !(3 in d.x)'],
  ['!(has(d.x) && d.x > 3)', '!(d.x > 3)'],
  ['!has(d.x) || d.x != 3 && d.y == 1', '!has(d.x) || d.x != 3 && d.y == 1'],
  ['d.y == 1 && !has(d.x) || d.x != 3', 'd.y == 1 && !has(d.x) || d.x != 3'],
  // Texts.
  ['d.x == "has(d.y) && d.y > 1"', 'd.x == "has(d.y) && d.y > 1"'],
  ['d.x == "a.?b"', 'd.x == "a.?b"'],
  ['d[?"a.?b"].hasValue() && d["a.?b"] == 1', 'd["a.?b"] == 1'],
])('the label of %s is %s', (when, label) => {
  expect(shortCondition('sum', when)).toBe(label);
});

const NAMES = ['email', 'email_alt', 'email.at'];

/** The row as its label has it. */
function labelOf({ field, operator, value = '' }: Row): string {
  const { form, cel, isNegated } = operatorOf(operator);
  const path = field.slice(3).join('.');
  const literal = JSON.stringify(value);
  const not = isNegated ? '!' : '';
  if (form === 'has') return `${not}has(${path})`;
  if (form === 'method') return `${not}${path}.${cel}(${literal})`;
  if (form === 'size') return `size(${path}) ${cel}`;
  if (form === 'in') return isNegated ? `!(${literal} in ${path})` : `${literal} in ${path}`;
  return form === 'compare' ? `${path} ${cel} ${literal}` : `${path} ${cel}`;
}

const ROWS = NAMES.flatMap((name) =>
  OPERATOR_NAMES.map((operator): Row => {
    const { hasValue, form } = operatorOf(operator);
    const value = form === 'method' ? 'a) && b' : 3;
    return {
      field: ['nodes', 'sum', 'data_content', ...name.split('.')],
      operator,
      ...(hasValue && { value }),
    };
  }),
);

test.each(['and', 'or'] as const)('no label loses a row of two, joined by %s', (join) => {
  const sign = join === 'and' ? ' && ' : ' || ';
  const pairs = ROWS.flatMap((one) => ROWS.map((other): Rows => ({ join, rows: [one, other] })));
  const labels = pairs.map((rows) => shortCondition('sum', printRows(rows) ?? ''));
  expect(labels).toEqual(pairs.map(({ rows }) => rows.map(labelOf).join(sign)));
});
