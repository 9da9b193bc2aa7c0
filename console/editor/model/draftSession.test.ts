import { expect, test } from 'vitest';
import type { WorkflowObject } from '../../kube/resources.ts';
import { draftOf } from './annotation.ts';
import { continued, receiveDraft } from './draftSession.ts';
import { updateSettings, type Draft } from './model.ts';
import { edited, isDirty, opened, stepped } from './session.ts';

const workflow = (spec: Partial<WorkflowObject['spec']> = {}): WorkflowObject => ({
  metadata: { name: 'orders', uid: 'u', resourceVersion: '7' },
  spec: { active: false, nodes: [{ id: 'trigger', manual: {} }], ...spec },
});
const base = draftOf(workflow());
const named = (displayName: string) => updateSettings(base, { displayName });
const present = (session: { history: { present: Draft } } | undefined) => session?.history.present.spec;

test('a session continues with the stored draft, and undo does not lose it', () => {
  const session = continued(workflow(), { base, draft: named('Mine') });
  expect(present(session)?.displayName).toBe('Mine');
  expect(session.workflow).toEqual(workflow());
  expect(isDirty(session)).toBe(true);
  expect(present(stepped(session, 'back'))?.displayName).toBe('Mine');
});

test('a draft is put on top of what was published since it was begun', () => {
  const session = continued(workflow({ description: 'Theirs' }), { base, draft: named('Mine') });
  expect(present(session)).toMatchObject({ displayName: 'Mine', description: 'Theirs' });
  expect(session.theirs).toBeUndefined();
});

test('a draft that changes what was published otherwise since is in conflict', () => {
  const theirs = workflow({ displayName: 'Theirs' });
  const session = continued(theirs, { base, draft: named('Mine') });
  expect(session.theirs).toEqual(theirs);
  expect(present(session)?.displayName).toBe('Mine');
});

test('a draft that was published meanwhile is no change', () => {
  expect(isDirty(continued(workflow({ displayName: 'Mine' }), { base, draft: named('Mine') }))).toBe(false);
});

test('what a colleague stores is shown, is no undo step, and keeps my later changes', () => {
  const shown = receiveDraft(opened(workflow()), base, named('Theirs'));
  expect(present(shown)?.displayName).toBe('Theirs');
  expect(shown && stepped(shown, 'back')).toBe(shown);
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
