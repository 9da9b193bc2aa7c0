import { expect, test } from 'vitest';
import type { DraftObject, WorkflowObject } from '../../kube/resources.ts';
import { draftOf } from './annotation.ts';
import { sessionOfDraft, readTheirDraft, receiveDraft } from './draftSession.ts';
import { updateSettings, type Draft } from './model.ts';
import { edited, isDirty, opened, receive, steppedInHistory, type Session } from './session.ts';
import { contentOf } from './storedDraft.ts';

const workflow = (spec: Partial<WorkflowObject['spec']> = {}): WorkflowObject => ({
  metadata: { name: 'orders', uid: 'u', resourceVersion: '7' },
  spec: { active: false, nodes: [{ id: 'trigger', manual: {} }], ...spec },
});
const base = draftOf(workflow());
const named = (displayName: string) => updateSettings(base, { displayName });
const present = (session: { history: { present: Draft } } | undefined) => session?.history.present.spec;

test('a session continues with the stored draft, and undo does not lose it', () => {
  const session = sessionOfDraft(workflow(), { base, draft: named('Mine') });
  expect(present(session)?.displayName).toBe('Mine');
  expect(session.workflow).toEqual(workflow());
  expect(isDirty(session)).toBe(true);
  expect(present(steppedInHistory(session, 'back'))?.displayName).toBe('Mine');
});

test('a draft is put on top of what was published since it was begun', () => {
  const session = sessionOfDraft(workflow({ description: 'Theirs' }), { base, draft: named('Mine') });
  expect(present(session)).toMatchObject({ displayName: 'Mine', description: 'Theirs' });
  expect(session.theirs).toBeUndefined();
});

test('a draft that changes what was published otherwise since is in conflict', () => {
  const theirs = workflow({ displayName: 'Theirs' });
  const session = sessionOfDraft(theirs, { base, draft: named('Mine') });
  expect(session.theirs).toEqual(theirs);
  expect(present(session)?.displayName).toBe('Mine');
});

test('a draft that was published meanwhile is no change', () => {
  expect(isDirty(sessionOfDraft(workflow({ displayName: 'Mine' }), { base, draft: named('Mine') }))).toBe(
    false,
  );
});

test('what a colleague stores is shown, is no undo step, and keeps my later changes', () => {
  const shown = receiveDraft(opened(workflow()), base, named('Theirs'));
  expect(present(shown)?.displayName).toBe('Theirs');
  expect(shown && steppedInHistory(shown, 'back')).toBe(shown);
  const mine = edited(opened(workflow()), (draft) => updateSettings(draft, { description: 'Mine' }), {
    at: 0,
  });
  expect(present(receiveDraft(mine, base, named('Theirs')))).toMatchObject({
    displayName: 'Theirs',
    description: 'Mine',
  });
});

test('two changes of the same part are a conflict', () => {
  const mine = edited(opened(workflow()), () => named('Mine'), { at: 0 });
  expect(receiveDraft(mine, base, named('Theirs'))).toBeUndefined();
});

const step = (id: string) => ({ id, skill: { name: 'set', parameters: { values: { n: '1' } } } });
const withSteps = (...ids: string[]) =>
  workflow({ nodes: [{ id: 'trigger', manual: {} }, ...ids.map(step)] });
const versioned = (version: WorkflowObject, resourceVersion: string): WorkflowObject => ({
  ...version,
  metadata: { ...version.metadata, resourceVersion },
});
const storedOf = (begun: WorkflowObject, draft: WorkflowObject) =>
  ({ spec: contentOf(begun, { base: draftOf(begun), draft: draftOf(draft) }) }) as DraftObject;
const idsOf = (session: Session | undefined) => present(session)?.nodes.map(({ id }) => id);
/** The session after it has read the stored draft; it had read what is published last. */
function after(session: Session, object: DraftObject): Session | undefined {
  const read = readTheirDraft(session, object);
  return read && receiveDraft(read.session, session.saved, read.theirs);
}

test('a draft from before a publication removes nothing that was published: both are compared', () => {
  const live = withSteps('published');
  const next = after(opened(live), storedOf(workflow(), withSteps('drafted')));
  expect(next?.theirs).toEqual(live);
  expect(next?.saved.spec.nodes.map(({ id }) => id)).toEqual(['trigger']);
  expect(idsOf(next)).toEqual(['trigger', 'drafted']);
});

test('own changes stay beside a draft from before a publication', () => {
  const live = withSteps('published');
  const mine = edited(opened(live), (draft) => updateSettings(draft, { description: 'Mine' }), { at: 0 });
  const next = after(mine, storedOf(workflow(), withSteps('drafted')));
  expect(next?.theirs).toEqual(live);
  expect(present(next)?.description).toBe('Mine');
  expect(idsOf(next)).toEqual(['trigger', 'drafted']);
});

test('a draft that is read before the version that it was begun from is no conflict once both are read', () => {
  const live = versioned(withSteps('published'), '8');
  const next = after(opened(workflow()), storedOf(live, withSteps('published', 'drafted')));
  const both = next && receive(next, live).session;
  expect(both?.theirs).toBeUndefined();
  expect(both?.saved.spec.nodes.map(({ id }) => id)).toEqual(['trigger', 'published']);
  expect(idsOf(both)).toEqual(['trigger', 'published', 'drafted']);
});

test('a conflict ends with the draft of the one who resolved it', () => {
  const live = versioned(withSteps('published'), '8');
  const mine = edited(opened(workflow()), () => draftOf(withSteps('drafted')), { at: 0 });
  const { session } = receive(mine, live);
  expect(session.theirs).toEqual(live);
  const read = readTheirDraft(session, storedOf(live, withSteps('published', 'drafted')));
  const next = read && receiveDraft(read.session, mine.history.present, read.theirs);
  expect(next?.theirs).toBeUndefined();
  expect(next?.workflow.spec).toEqual(live.spec);
  expect(idsOf(next)).toEqual(['trigger', 'published', 'drafted']);
});
