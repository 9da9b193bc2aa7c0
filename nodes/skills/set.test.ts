import { expect, test } from 'vitest';
import type { NodeOutput, Scope } from '../../api/expression/scope.ts';
import { revisionOf, type RevisionStep } from '../../api/revision.ts';
import { effectOf, validateSkill } from '../register.ts';
import { compileFields, executePure } from '../step.ts';

const order = {
  number: 'A-1',
  items: [
    { name: 'lamp', quantity: 2, price: 19.5 },
    { name: 'cable', quantity: 1, price: 4 },
  ],
};

const outputs: Record<string, Partial<NodeOutput>> = {
  trigger: { text_content: '', data_content: order },
  broken: { error: { reason: 'Refused', message: 'no' } },
};
const scope: Scope = { node: (id) => outputs[id] };

function step(values: unknown, more: object = {}): RevisionStep {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'shape', skill: { name: 'set', parameters: { values } }, ...more },
  ];
  const [first] = revisionOf({ active: true, nodes }).steps;
  if (!first) throw new Error('there is no step');
  return first;
}

const run = (values: unknown) => executePure(step(values), compileFields(step(values))(scope)).output;

test('each name gets the value of its expression, with its type', () => {
  const values = {
    number: 'nodes.trigger.data_content.number',
    lines: 'size(nodes.trigger.data_content.items)',
    names: 'nodes.trigger.data_content.items.map(i, i.name)',
    is_large: 'nodes.trigger.data_content.items.exists(i, i.quantity > 1)',
    greeting: '"Order " + nodes.trigger.data_content.number',
    coupon: 'has(nodes.trigger.data_content.coupon) ? nodes.trigger.data_content.coupon : null',
  };
  expect(run(values)).toEqual({
    text_content: 'Set number, lines, names, is_large, greeting, coupon.',
    data_content: {
      number: 'A-1',
      lines: 2,
      names: ['lamp', 'cable'],
      is_large: true,
      greeting: 'Order A-1',
      coupon: null,
    },
  });
});

test('values may be nested, and what is no text stands for itself', () => {
  const values = {
    order: { first: 'nodes.trigger.data_content.items[0]' },
    pair: ['1 + 1', 2],
    on: true,
    none: null,
  };
  expect(run(values).data_content).toEqual({
    order: { first: order.items[0] },
    pair: [2, 2],
    on: true,
    none: null,
  });
});

test.each([
  ['a text', '"a" + "b"', { text_content: 'ab', data_content: 'ab' }],
  [
    'a list',
    'nodes.trigger.data_content.items.map(i, i.price)',
    { text_content: 'Set the value.', data_content: [19.5, 4] },
  ],
  ['an object', '{"a": 1}', { text_content: 'Set a.', data_content: { a: 1 } }],
])('one expression makes its value the output: %s', (_what, expression, output) => {
  expect(run(expression)).toEqual(output);
});

test('a failure that was let pass can be read', () => {
  expect(run({ why: 'nodes.broken.error.reason' }).data_content).toEqual({ why: 'Refused' });
});

test('what comes from data is never an expression, and no key reaches a prototype', () => {
  outputs['hostile'] = { text_content: '1 + 1', data_content: JSON.parse('{"__proto__": {"admin": true}}') };
  const { data_content: data } = run({
    text: 'nodes.hostile.text_content',
    copy: 'nodes.hostile.data_content',
  });
  expect(data).toMatchObject({ text: '1 + 1' });
  expect((data as { admin?: unknown; copy: { admin?: unknown } }).copy.admin).toBeUndefined();
});

test.each([
  [
    'what is not there',
    { total: 'nodes.trigger.data_content.total' },
    'MissingValue',
    /^values\.total: .*total/,
  ],
  [
    'types that do not fit',
    { deep: ['nodes.trigger.data_content.number + 1'] },
    'Type',
    /^values\.deep\[0\]: /,
  ],
  ['a node that did not run', 'nodes.nobody.text_content', 'MissingValue', /^values: .*did not run/],
])('%s fails the step, naming the value', (_what, values, code, message) => {
  expect(() => run(values)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});

const many = (count: number, expression: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, expression]));

test('all expressions together have one budget of steps', () => {
  outputs['large'] = { text_content: '', data_content: Array.from({ length: 20_000 }, (_, index) => index) };
  const expensive = 'nodes.large.data_content.all(i, i >= 0.0)';
  expect(run(many(2, expensive)).data_content).toEqual({ v0: true, v1: true });
  expect(() => run(many(100, expensive))).toThrow(expect.objectContaining({ code: 'Limit' }));
});

test('all values together are no larger than a value may be', () => {
  outputs['large'] = { text_content: 'x'.repeat(200_000), data_content: null };
  expect(run(many(2, 'nodes.large.text_content')).data_content).toHaveProperty('v1');
  expect(() => run(many(3, 'nodes.large.text_content'))).toThrow(
    expect.objectContaining({ code: 'Limit', message: expect.stringMatching(/^values\.v2: /) }),
  );
});

test.each([
  ['no CEL', { total: '1 +' }, /^values\.total: line 1, column/],
  [
    'a reference in braces',
    "{{ $('trigger').data_content.number }}",
    /^values: line 1, column 1: CEL does not support \{\{ \}\}: write nodes\.trigger/,
  ],
  ['a bare word', { currency: 'EUR' }, /^values\.currency: .*unknown name 'EUR'/],
  ['too many expressions', many(101, '1'), /at most 100 expressions/],
  ['values that are nested too deep', JSON.parse(`${'['.repeat(20)}"1"${']'.repeat(20)}`), /16 levels deep/],
])('%s is found when the workflow is checked', (_what, values, message) => {
  expect(() => compileFields(step(values))).toThrow(message);
});

test.each([
  ['nothing', {}, 'values: must be an expression in CEL, or an object of names and expressions'],
  ['a number', { values: 3 }, 'values: must be an expression in CEL, or an object of names and expressions'],
  ['another parameter', { values: '1', value: 2 }, 'there is no parameter named value; there are values'],
])('parameters with %s are refused', (_what, parameters, problem) => {
  expect(validateSkill('set', parameters)).toEqual([problem]);
});

test('it has no effect, whatever the step says', () => {
  expect(effectOf(step('1', { effect: 'AtMostOnce' }))).toBe('None');
});
