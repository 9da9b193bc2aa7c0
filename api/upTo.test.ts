/** What a test run executes of a spec that goes no further than one node. */
import { expect, test } from 'vitest';
import { specUpTo } from './upTo.ts';
import type { WorkflowEdge, WorkflowNode } from './workflow.ts';

const trigger: WorkflowNode = { id: 'trigger', manual: {} };
const step = (id: string, within?: string): WorkflowNode => ({
  id,
  wait: { duration: '1m' },
  ...(within !== undefined && { within }),
});
const group = (id: string, within?: string): WorkflowNode => ({
  id,
  group: {},
  ...(within !== undefined && { within }),
});
const edge = (from: string, to: string, more: Partial<WorkflowEdge> = {}) => ({ from, to, ...more });

const fork = [
  edge('trigger', 'a', { when: 'true' }),
  edge('trigger', 'b'),
  edge('a', 'join'),
  edge('b', 'join'),
  edge('a', 'rescue', { after: 'Failure' }),
];
const forked = [trigger, step('a'), step('b'), step('join'), step('rescue')];
const grouped = [trigger, step('a'), group('each'), step('one', 'each'), step('two', 'each'), step('end')];

test.each<[string, WorkflowNode[], WorkflowEdge[] | undefined, string, string[], WorkflowEdge[] | undefined]>(
  [
    ['the middle of a chain', [trigger, step('a'), step('b')], undefined, 'a', ['trigger', 'a'], undefined],
    ['the trigger', forked, fork, 'trigger', ['trigger'], undefined],
    ['one of two branches', forked, fork, 'a', ['trigger', 'a'], [fork[0] as WorkflowEdge]],
    ['a join', forked, fork, 'join', ['trigger', 'a', 'b', 'join'], fork.slice(0, 4)],
    [
      'what handles a failure',
      forked,
      fork,
      'rescue',
      ['trigger', 'a', 'rescue'],
      [fork[0], fork[4]] as WorkflowEdge[],
    ],
    ['a group, with its body', grouped, undefined, 'each', ['trigger', 'a', 'each', 'one', 'two'], undefined],
    ['a node after a group', grouped, undefined, 'end', grouped.map(({ id }) => id), undefined],
    ['the first node of a body', grouped, undefined, 'one', ['trigger', 'a', 'each', 'one'], undefined],
    [
      'a node of a body with edges, in a chain',
      grouped,
      [edge('one', 'two')],
      'one',
      ['trigger', 'a', 'each', 'one'],
      undefined,
    ],
    [
      'a node in a group in a group',
      [
        trigger,
        group('out'),
        step('x', 'out'),
        group('in', 'out'),
        step('y', 'in'),
        step('z', 'in'),
        step('w', 'out'),
      ],
      undefined,
      'y',
      ['trigger', 'out', 'x', 'in', 'y'],
      undefined,
    ],
  ],
)('up to %s', (_what, nodes, edges, until, ...[kept, left]) => {
  const part = specUpTo({ nodes, ...(edges && { edges }) }, until);
  expect(part.nodes.map(({ id }) => id)).toEqual(kept);
  expect(part.edges).toEqual(left);
});

test.each([
  ['without a last node', undefined],
  ['to a node that does not exist', 'gone'],
  ['to a node that no edge leads to', 'alone'],
])('a run %s has the whole spec', (_what, until) => {
  const spec = { nodes: [trigger, step('a'), step('alone')], edges: [edge('trigger', 'a')] };
  expect(specUpTo(spec, until)).toBe(spec);
});

test('before the response no caller waits for a reply', () => {
  const webhook: WorkflowNode = { id: 'trigger', webhook: { path: 'orders', replyTimeout: '10s' } };
  const nodes = [webhook, step('a'), { id: 'reply', response: {} }];
  expect(specUpTo({ nodes }, 'a').nodes[0]).toEqual({ id: 'trigger', webhook: { path: 'orders' } });
  expect(specUpTo({ nodes }, 'reply').nodes[0]).toBe(webhook);
});
