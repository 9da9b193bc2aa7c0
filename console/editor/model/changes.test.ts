import { describe, expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import type { Draft } from './model.ts';
import { liveChanges, noteChanges, specChanges } from './changes.ts';

const trigger: WorkflowNode = { id: 'trigger', webhook: { path: 'orders' } };
const set = (id: string, n: string): WorkflowNode => ({
  id,
  skill: { name: 'set', parameters: { values: { n } } },
});
const ACTIVE: WorkflowSpec = { active: true, nodes: [trigger, set('one', '1'), set('two', '2')] };
const draft = (change: Partial<WorkflowSpec> = {}): Draft => ({
  spec: { ...ACTIVE, ...change },
  positions: {},
});
const [, one, two] = ACTIVE.nodes as [WorkflowNode, WorkflowNode, WorkflowNode];

test.each<[string, WorkflowNode[], WorkflowNode[], string[]]>([
  ['is disabled', [trigger, one], [trigger, { ...one, disabled: true }], ['disabled one']],
  ['is enabled', [trigger, { ...one, disabled: true }], [trigger, one], ['enabled one']],
  [
    'is disabled and changed',
    [trigger, one],
    [trigger, { ...set('one', '3'), disabled: true }],
    ['changed one'],
  ],
])('a node that %s is listed as such', (_what, before, after, changes) => {
  const found = specChanges(draft({ nodes: before }), draft({ nodes: after }));
  expect(found.map(({ kind, what }) => `${kind} ${what}`)).toEqual(changes);
});

test('a note that is added, changed or removed is a change of its own', () => {
  const noted: Draft = {
    ...draft(),
    notes: { n: { x: 0, y: 0, width: 200, height: 100, color: 'yellow', text: 'Why' } },
  };
  expect(noteChanges(draft(), noted)).toEqual([{ kind: 'changed', what: 'Notes' }]);
  expect(noteChanges(noted, draft())).toHaveLength(1);
  expect(noteChanges(noted, { ...noted })).toEqual([]);
});

test.each<[string, Partial<WorkflowSpec>, string[]]>([
  ['nothing', {}, []],
  ['a display name', { displayName: 'Orders' }, []],
  ['a description', { description: 'What it is for' }, []],
  ['the display name of a node', { nodes: [trigger, { ...one, displayName: 'First' }, two] }, []],
  ['test data', { nodes: [{ ...trigger, webhook: { path: 'orders', testData: {} } }, one, two] }, []],
  [
    'the chain written out',
    {
      edges: [
        { from: 'one', to: 'two', after: 'Success' },
        { from: 'trigger', to: 'one' },
      ],
    },
    [],
  ],
  ['a parameter', { nodes: [trigger, set('one', '3'), two] }, ['changed one']],
  ['the trigger', { nodes: [{ id: 'trigger', manual: {} }, one, two] }, ['changed trigger']],
  ['a node added to a chain', { nodes: [trigger, one, set('three', '3'), two] }, ['added three']],
  ['a node removed from a chain', { nodes: [trigger, two] }, ['removed one']],
  [
    'a node added beside another one',
    {
      nodes: [trigger, one, two, set('three', '3')],
      edges: ['one', 'two', 'three'].map((to) => ({ from: 'trigger', to })),
    },
    ['added three', 'changed Connections'],
  ],
  ['the order of a chain', { nodes: [trigger, two, one] }, ['changed Connections']],
  [
    'a condition',
    {
      edges: [
        { from: 'trigger', to: 'one' },
        { from: 'one', to: 'two', when: 'false' },
      ],
    },
    ['changed Connections'],
  ],
  ['settings', { timeout: '10m', concurrency: { limit: 1 } }, ['changed Timeout', 'changed Concurrency']],
])('publishing %s in an active workflow is a live change', (_what, change, changes) => {
  expect(liveChanges(draft(), draft(change)).map(({ kind, what }) => `${kind} ${what}`)).toEqual(changes);
});

describe('an inactive workflow', () => {
  test('has no live changes', () => {
    expect(liveChanges(draft({ active: false }), draft({ active: false, nodes: [trigger, one] }))).toEqual(
      [],
    );
  });

  test('has live changes if the draft activates it', () => {
    expect(liveChanges(draft({ active: false }), draft())).toEqual([{ kind: 'changed', what: 'Active' }]);
  });

  test('has no live changes if the draft deactivates it', () => {
    expect(liveChanges(draft(), draft({ active: false, nodes: [trigger, one] }))).toEqual([]);
  });
});

test('all changes include names, test data and those of an inactive workflow', () => {
  const changed = draft({
    active: false,
    displayName: 'Orders',
    nodes: [{ ...trigger, webhook: { path: 'orders', testData: {} } }, one, set('three', '3')],
  });
  expect(specChanges(draft({ active: false }), changed).map(({ kind, what }) => `${kind} ${what}`)).toEqual([
    'added three',
    'changed trigger',
    'removed two',
    'changed Name',
  ]);
});

test('a change names its node by its ID, too, and what its name hides is visible', () => {
  const named = { ...set('two', '3'), displayName: `Nothing that matters, \u202e${'x'.repeat(250)}` };
  const [change] = specChanges(draft(), draft({ nodes: [trigger, one, named] }));
  expect(change?.what).toMatch(/^Nothing that matters, \[U\+202E\]x+… \(two\)$/);
  expect(change?.what.length).toBeLessThan(80);
});
