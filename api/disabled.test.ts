/** What runs execute of a spec with disabled steps. */
import { expect, test } from 'vitest';
import { withoutDisabled } from './disabled.ts';
import { replies, revisionOf } from './revision.ts';
import type { WorkflowEdge, WorkflowNode } from './workflow.ts';

const trigger: WorkflowNode = { id: 'trigger', webhook: { path: 'orders' } };
const ask: WorkflowNode = {
  id: 'ask',
  disabled: true,
  agent: { credential: 'llm', model: 'm', prompt: 'Hi' },
  forEach: { items: "{{ $('trigger').data_content }}" },
};
const reply: WorkflowNode = { id: 'reply', response: { body: 'ok' } };
const each = { id: 'each', group: {}, disabled: true } satisfies WorkflowNode;
const within = (id: string, group: string): WorkflowNode => ({
  id,
  within: group,
  wait: { duration: '1m' },
});

test('a spec without disabled steps stays the same', () => {
  const spec = { nodes: [trigger, reply], edges: [] };
  expect(withoutDisabled(spec)).toBe(spec);
});

test('of a disabled step the revision has the ID and nothing that it names', () => {
  const { steps } = revisionOf({ active: false, nodes: [trigger, ask, reply] });
  expect(steps[0]).toMatchObject({ id: 'ask', disabled: true, kind: 'skill', skill: { name: 'set' } });
  expect(JSON.stringify(steps[0])).not.toMatch(/llm|forEach|prompt/);
});

test('a disabled response replies to nobody', () => {
  const nodes = [trigger, { ...reply, disabled: true }];
  expect(replies(revisionOf({ active: false, nodes }))).toBe(false);
});

test.each<[sentence: string, nodes: WorkflowNode[], edges: WorkflowEdge[] | undefined, left: object]>([
  [
    'the body of a disabled group is left out, with its groups and edges',
    [
      trigger,
      each,
      within('a', 'each'),
      { id: 'inner', within: 'each', group: {} },
      within('b', 'inner'),
      reply,
    ],
    [
      { from: 'trigger', to: 'each' },
      { from: 'a', to: 'inner' },
      { from: 'each', to: 'reply' },
    ],
    {
      ids: ['trigger', 'each', 'reply'],
      edges: [
        { from: 'trigger', to: 'each' },
        { from: 'each', to: 'reply' },
      ],
    },
  ],
  [
    'nodes that were a chain stay one if all edges were in the body',
    [trigger, each, within('a', 'each'), within('b', 'each'), reply],
    [{ from: 'a', to: 'b' }],
    { ids: ['trigger', 'each', 'reply'], edges: undefined },
  ],
  [
    'a disabled step in a body stays there',
    [trigger, { id: 'each', group: {} }, { ...within('a', 'each'), disabled: true }],
    undefined,
    { ids: ['trigger', 'each', 'a'], edges: undefined },
  ],
])('%s', (_sentence, nodes, edges, left) => {
  const spec = withoutDisabled({ nodes, ...(edges && { edges }) });
  expect({ ids: spec.nodes.map(({ id }) => id), edges: spec.edges }).toEqual(left);
});
