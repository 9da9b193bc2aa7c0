import { expect, test } from 'vitest';
import type { WorkflowObject } from '../../kube/resources.ts';
import { updateSettings, type Draft } from './model.ts';
import {
  discarded,
  edited,
  isDirty,
  opened,
  resolved,
  receive,
  steppedInHistory,
  afterPublishing,
  withoutChainEdges,
} from './session.ts';

const workflow = (version: number, spec: Partial<WorkflowObject['spec']> = {}): WorkflowObject => ({
  metadata: { name: 'orders', uid: 'u', resourceVersion: String(version) },
  spec: { active: false, nodes: [{ id: 'trigger', manual: {} }], ...spec },
});
const another = (version: number, spec: Partial<WorkflowObject['spec']>): WorkflowObject => {
  const { metadata, ...rest } = workflow(version, spec);
  return { ...rest, metadata: { ...metadata, uid: 'another' } };
};
const named = (displayName: string) => (draft: Parameters<typeof updateSettings>[0]) =>
  updateSettings(draft, { displayName });
const mine = () => edited(opened(workflow(5)), named('Mine'), { at: 0 });

test('a session is clean at first, dirty after a change, and clean after undo', () => {
  expect(isDirty(opened(workflow(5)))).toBe(false);
  expect(isDirty(mine())).toBe(true);
  expect(isDirty(steppedInHistory(mine(), 'back'))).toBe(false);
});

test.each([
  ['a status alone is no news', opened(workflow(5)), workflow(6), 'same'],
  ['an older version is no news', opened(workflow(5)), workflow(4, { displayName: 'Old' }), 'same'],
  [
    'without own changes theirs is taken',
    opened(workflow(5)),
    workflow(6, { displayName: 'Theirs' }),
    'updated',
  ],
  ['what both changed alike is taken', mine(), workflow(6, { displayName: 'Mine' }), 'updated'],
  ['changes of other fields go together', mine(), workflow(6, { description: 'Theirs' }), 'rebased'],
  ['switching it on is told by the toggle alone', mine(), workflow(6, { active: true }), 'switched'],
  [
    'with another change it is one of them',
    mine(),
    workflow(6, { active: true, description: 'Theirs' }),
    'rebased',
  ],
  [
    'changes are not put into another workflow of the same name',
    mine(),
    another(6, { description: 'Theirs' }),
    'conflict',
  ],
  [
    'without own changes the other workflow is taken',
    opened(workflow(5)),
    another(6, { description: 'T' }),
    'updated',
  ],
  ['changes of the same are a conflict', mine(), workflow(6, { displayName: 'Theirs' }), 'conflict'],
])('%s', (_what, session, read, outcome) => {
  expect(receive(session, read).outcome).toBe(outcome);
});

test('undo and redo do not revert the toggle', () => {
  const later = edited(mine(), named('Later'), { at: 9_000 });
  const { session } = receive(steppedInHistory(later, 'back'), workflow(6, { active: true }));
  const steps = [session, steppedInHistory(session, 'back'), steppedInHistory(session, 'forward')];
  expect(steps.map(({ history }) => history.present.spec)).toMatchObject([
    { active: true, displayName: 'Mine' },
    { active: true },
    { active: true, displayName: 'Later' },
  ]);
  expect(steps.map(isDirty)).toEqual([true, false, true]);
});

test('undo reverts own changes and none of others', () => {
  const { session } = receive(mine(), workflow(6, { description: 'Theirs' }));
  const undone = steppedInHistory(session, 'back');
  expect(undone.history.present.spec).toMatchObject({ description: 'Theirs' });
  expect(undone.history.present.spec.displayName).toBeUndefined();
  expect(isDirty(undone)).toBe(false);
});

test('steps that conflict with changes of others cannot be undone', () => {
  const saved = afterPublishing(mine(), workflow(6, { displayName: 'Mine' }), mine().history.present);
  const { session } = receive(saved, workflow(7, { displayName: 'Theirs' }));
  expect(session.history).toMatchObject({ past: [], present: { spec: { displayName: 'Theirs' } } });
});

test('a conflict changes neither the draft nor its base', () => {
  const session = mine();
  const { session: next } = receive(session, workflow(6, { displayName: 'Theirs' }));
  expect(next.history).toBe(session.history);
  expect(next.workflow.metadata.resourceVersion).toBe('5');
  expect(next.theirs?.metadata.resourceVersion).toBe('6');
});

test('a conflict ends if the others revert their change', () => {
  const { session } = receive(mine(), workflow(6, { displayName: 'Theirs' }));
  expect(receive(session, workflow(7)).session.theirs).toBeUndefined();
});

test('a conflict is resolved with theirs, or with mine based on theirs', () => {
  const { session } = receive(mine(), workflow(6, { displayName: 'Theirs' }));
  const theirs = resolved(session, 'theirs');
  expect(theirs.history.present.spec.displayName).toBe('Theirs');
  expect(isDirty(theirs)).toBe(false);
  const kept = resolved(session, session.history.present);
  expect(kept.history.present.spec.displayName).toBe('Mine');
  expect(kept.workflow.metadata.resourceVersion).toBe('6');
  expect(isDirty(kept)).toBe(true);
});

test('input during a save stays and is unsaved', () => {
  const session = mine();
  const later = edited(session, named('Later'), { at: 9_000 });
  const next = afterPublishing(later, workflow(6, { displayName: 'Mine' }), session.history.present);
  expect(next.history.present.spec.displayName).toBe('Later');
  expect(isDirty(next)).toBe(true);
  expect(
    isDirty(afterPublishing(session, workflow(6, { displayName: 'Mine' }), session.history.present)),
  ).toBe(false);
});

const nodes = ['trigger', 'a', 'b'].map((id, index) =>
  index === 0 ? { id, manual: {} } : { id, response: {} },
);
const chain = [
  { from: 'a', to: 'b', after: 'Success' as const },
  { from: 'trigger', to: 'a' },
];

test.each<[string, Draft['spec']['edges'], Draft['spec']['edges'], boolean]>([
  ['a chain without edges', undefined, chain, false],
  ['a chain with edges if the object has edges', [], chain, true],
  [
    'a condition with edges',
    undefined,
    [{ from: 'trigger', to: 'a', when: 'true' }, ...chain.slice(0, 1)],
    true,
  ],
  ['a branch with edges', undefined, [...chain, { from: 'trigger', to: 'b' }], true],
])('the console saves %s', (_what, saved, edges, hasEdges) => {
  const session = opened(workflow(5, { nodes, ...(saved && { edges: saved }) }));
  const change = (draft: Draft): Draft => ({ ...draft, spec: { ...draft.spec, ...(edges && { edges }) } });
  const sent = withoutChainEdges(edited(session, change, { at: 0 })).history.present.spec;
  expect(sent.edges).toEqual(hasEdges ? edges : undefined);
  expect('edges' in sent).toBe(hasEdges);
});

test('input while a workflow is recreated as inactive does not activate it', () => {
  const session = edited(opened(workflow(5, { active: true })), named('Sent'), { at: 0 });
  const sent = session.history.present;
  const later = edited(session, named('Later'), { at: 9_000 });
  const recreated = another(6, { active: false, displayName: 'Sent' });
  expect(afterPublishing(later, recreated, sent).history.present.spec).toMatchObject({
    active: false,
    displayName: 'Later',
  });
});

test('undo after a workflow was recreated as inactive does not activate it', () => {
  const session = edited(opened(workflow(5, { active: true })), named('Sent'), { at: 0 });
  const recreated = another(6, { active: false, displayName: 'Sent' });
  const next = afterPublishing(session, recreated, session.history.present);
  expect(steppedInHistory(next, 'back').history.present.spec.active).toBe(false);
});

test('a conflict takes over what somebody switched, whatever it is resolved with', () => {
  const session = edited(opened(workflow(5, { active: true })), named('Mine'), { at: 0 });
  const stopped = { active: false, suspend: true };
  const { session: next } = receive(session, workflow(6, { ...stopped, displayName: 'Theirs' }));
  expect(next.workflow.spec).toMatchObject(stopped);
  const kept = resolved(next, next.history.present);
  expect(kept.history.present.spec).toMatchObject({ ...stopped, displayName: 'Mine' });
  const undone = steppedInHistory(steppedInHistory(resolved(next, 'theirs'), 'back'), 'back');
  expect(undone.history.present.spec).toMatchObject(stopped);
  const { session: again } = receive(next, workflow(7, { active: true, displayName: 'Theirs' }));
  expect(again.workflow.spec).toEqual(workflow(7, { active: true }).spec);
});

test('discarding in a conflict shows what is published, not the version before', () => {
  const { session } = receive(mine(), workflow(6, { displayName: 'Theirs' }));
  const next = discarded(session, 9_000);
  expect(next.history.present.spec.displayName).toBe('Theirs');
  expect(next.theirs).toBeUndefined();
  expect(steppedInHistory(next, 'back').history.present.spec.displayName).toBe('Mine');
  expect(isDirty(discarded(mine(), 9_000))).toBe(false);
});
