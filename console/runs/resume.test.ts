import { expect, test } from 'vitest';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { decisionsOf, isOutput, itemsLeft, undecidedNodes } from './resume.ts';

const run: RunHead = { run: 'orders-1', workflow: 'shop.orders', phase: 'Failed', test: false };
const nodes = (...phases: NodeView['phase'][]) =>
  new Map(phases.map((phase, index) => [`n${index}`, { id: `n${index}`, phase }]));

test.each<[string, RunHead, ReturnType<typeof nodes>, string[] | undefined]>([
  ['a failed node', run, nodes('Succeeded', 'Failed', 'Skipped'), []],
  ['nodes with an unknown outcome', run, nodes('Unknown', 'Failed', 'Unknown'), ['n0', 'n2']],
  ['no failed node', run, nodes('Succeeded', 'Skipped'), undefined],
  ['success', { ...run, phase: 'Succeeded' }, nodes('Succeeded', 'Failed'), undefined],
  ['only a summary', { ...run, summary: true }, nodes('Failed'), undefined],
])('of a run with %s the nodes to decide are known', (_what, head, views, expected) => {
  expect(undecidedNodes(head, views, () => 0)).toEqual(expected);
});

test.each([
  ['a missing decision', {}, undefined],
  [
    'a repetition',
    { mail: { outcome: 'AssumeNotDone', output: '{' } },
    [{ node: 'mail', outcome: 'AssumeNotDone' }],
  ],
  [
    'an effect without output',
    { mail: { outcome: 'AssumeDone', output: ' ' } },
    [{ node: 'mail', outcome: 'AssumeDone' }],
  ],
  [
    'an effect with output',
    { mail: { outcome: 'AssumeDone', output: '{"id":1}' } },
    [{ node: 'mail', outcome: 'AssumeDone', output: { data_content: { id: 1 } } }],
  ],
  ['an output that is no JSON', { mail: { outcome: 'AssumeDone', output: '{' } }, undefined],
] as const)('%s is read', (_what, entered, expected) => {
  expect(decisionsOf(['mail'], entered)).toEqual(expected);
});

test('an output is JSON or empty', () => {
  expect(['', 'null', '{"a":1}', '{a'].map(isOutput)).toEqual([true, true, true, false]);
});

test('a group is decided as a whole, without the nodes of its body', () => {
  const views = nodes('Unknown', 'Unknown', 'Skipped');
  expect(undecidedNodes(run, views, (id) => (id === 'n1' ? 1 : 0))).toEqual(['n0']);
});

test.each([
  [undefined, 0],
  [{ total: 9, succeeded: 3, failed: 1, running: 0 }, 5],
])('of a loop with the counts %j, %i items have not ended', (items, left) => {
  expect(itemsLeft({ id: 'l', phase: 'Unknown', ...(items && { items }) })).toBe(left);
});
