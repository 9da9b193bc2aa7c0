import { expect, test } from 'vitest';
import { canvasAnnotations, draftOf, NOTES } from './annotation.ts';
import { mergeDrafts } from './merge.ts';
import type { Draft } from './model.ts';
import {
  MOST_NOTES,
  newNote,
  noteOf,
  notesIn,
  notesProblem,
  updateNote,
  withNote,
  withNotes,
  withoutNote,
  type Note,
  type Notes,
} from './notes.ts';
import { patchOf, rebaseDraft } from './patch.ts';
import { edited, isDirty, opened, receive, steppedInHistory, afterPublishing } from './session.ts';
import { bodyOf, isPublished, readBody } from './storedDraft.ts';

const note = (text: string, change: Partial<Note> = {}): Note => ({
  ...newNote({ x: 0, y: 0 }),
  text,
  ...change,
});
const plain = draftOf({
  metadata: { name: 'orders' },
  spec: { active: false, nodes: [{ id: 'trigger', manual: {} }] },
});
const noted = (notes: Notes): Draft => withNotes(plain, notes);
const workflow = (version: number, notes?: Notes, displayName?: string) => ({
  metadata: {
    name: 'orders',
    uid: 'u',
    resourceVersion: String(version),
    annotations: { other: 'kept', ...canvasAnnotations(withNotes(plain, notes)) },
  },
  spec: { ...plain.spec, ...(displayName !== undefined && { displayName }) },
});

test('a note is added, changed and removed; without notes the draft is as before', () => {
  const added = withNote(plain, 'a', newNote({ x: 1.4, y: 2.6 }));
  expect(noteOf(added, 'a')).toEqual({ x: 1, y: 3, width: 240, height: 160, color: 'yellow', text: '' });
  const changed = updateNote(added, 'a', { text: 'Why', color: 'blue', width: 1, height: 99_999 });
  expect(noteOf(changed, 'a')).toMatchObject({ text: 'Why', color: 'blue', width: 80, height: 4_000 });
  expect(updateNote(changed, 'a', { text: 'Why' })).toBe(changed);
  expect(updateNote(changed, 'toString', { text: 'Why' })).toBe(changed);
  expect(withoutNote(changed, 'b')).toBe(changed);
  expect(withoutNote(changed, 'a')).toEqual(plain);
});

const many = (count: number, text: string): Notes =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, note(text)]));

test.each([
  ['as many as allowed', many(MOST_NOTES, 'x'), /^none$/],
  ['one too many', many(MOST_NOTES + 1, 'x'), /can have 50 notes. Delete one/],
  ['a text as long as allowed', many(1, 'x'.repeat(2_000)), /^none$/],
  ['a longer text', many(1, 'x'.repeat(2_001)), /2000 characters, and this text has 2001/],
  ['texts too long together', many(40, 'ä'.repeat(2_000)), /64 KiB together, and these have 16\d KiB/],
])('%s', (_what, notes, problem) => {
  expect(notesProblem({ notes }) ?? 'none').toMatch(problem);
});

const valid = note('kept');
test.each([
  ['no JSON', '{', undefined],
  ['a list', '[]', undefined],
  ['null', 'null', undefined],
  ['a text', '{"a":"text"}', undefined],
  ['an unknown color', JSON.stringify({ a: { ...valid, color: 'url(x)' }, b: valid }), { b: valid }],
  ['a place that is no number', JSON.stringify({ a: { ...valid, x: '1' }, b: valid }), { b: valid }],
  ['a place far away', JSON.stringify({ a: { ...valid, y: 1e99 }, b: valid }), { b: valid }],
  ['no size', JSON.stringify({ a: { ...valid, width: 0 }, b: valid }), { b: valid }],
  ['a long text', JSON.stringify({ a: { ...valid, text: 'x'.repeat(2_001) }, b: valid }), { b: valid }],
  ['IDs with a meaning', `{"__proto__":{},"note:a":${JSON.stringify(valid)}}`, undefined],
  ['more members', JSON.stringify({ b: { ...valid, onclick: 'alert(1)' } }), { b: valid }],
])('stored notes are read, without invalid ones: %s', (_what, text, notes) => {
  expect(notesIn(text)).toEqual(notes);
});

test('notes are published like positions, and their last one takes the annotation with it', () => {
  const one = noted({ a: note('Why') });
  expect(patchOf(plain, one)).toEqual({
    metadata: { annotations: { [NOTES]: JSON.stringify({ a: note('Why') }) } },
  });
  expect(patchOf(one, plain)).toEqual({ metadata: { annotations: { [NOTES]: null } } });
  expect(patchOf(one, noted({ a: note('Why') }))).toBeUndefined();
  expect(draftOf(workflow(1, { a: note('Why') }))).toEqual(one);
});

test('notes are kept in the stored draft, and are something to publish', () => {
  const one = noted({ a: note('Why') });
  expect(readBody(bodyOf(one), plain.spec)).toEqual(one);
  expect(isPublished(one, plain)).toBe(false);
  expect(isPublished(one, noted({ a: note('Why') }))).toBe(true);
});

test('a note makes a session dirty until it is undone or published', () => {
  const session = edited(opened(workflow(5)), (draft) => withNote(draft, 'a', note('Why')), { at: 0 });
  expect(isDirty(session)).toBe(true);
  expect(isDirty(steppedInHistory(session, 'back'))).toBe(false);
  const published = afterPublishing(session, workflow(6, { a: note('Why') }), session.history.present);
  expect(isDirty(published)).toBe(false);
});

test('notes that somebody else published are taken, and go together with mine', () => {
  const theirs = workflow(6, { b: note('Theirs') });
  const taken = receive(opened(workflow(5)), theirs);
  expect(taken.outcome).toBe('updated');
  expect(taken.session.history.present.notes).toEqual({ b: note('Theirs') });
  const mine = edited(opened(workflow(5)), (draft) => withNote(draft, 'a', note('Mine')), { at: 0 });
  const both = receive(mine, theirs);
  expect(both.outcome).toBe('rebased');
  expect(both.session.history.present.notes).toEqual({ a: note('Mine'), b: note('Theirs') });
  expect(steppedInHistory(both.session, 'back').history.present.notes).toEqual({ b: note('Theirs') });
});

const old = { a: note('old') };
const below = (text: string) => note(text, { y: 160 + 40 });
test.each<[string, Notes, Notes, Notes | undefined]>([
  ['mine is changed', { a: note('mine') }, old, { a: note('mine') }],
  ['theirs is changed', old, { a: note('theirs') }, { a: note('theirs') }],
  ['mine is deleted', {}, old, undefined],
  ['both are deleted', {}, {}, undefined],
  ['theirs is deleted and mine is changed', { a: note('mine') }, {}, { a: note('mine') }],
  ['mine is deleted and theirs is changed', {}, { a: note('theirs') }, { a: note('theirs') }],
  [
    'both are moved',
    { a: note('old', { x: 1 }) },
    { a: note('old', { x: 2 }) },
    { a: note('old', { x: 2 }) },
  ],
  [
    'mine is written, theirs is moved',
    { a: note('mine') },
    { a: note('old', { x: 2 }) },
    { a: note('mine', { x: 2 }) },
  ],
  ['both write the same', { a: note('same') }, { a: note('same') }, { a: note('same') }],
  ['both write', { a: note('mine') }, { a: note('theirs') }, { a: note('theirs'), ac: below('mine') }],
  [
    'both write, and the place of the copy is taken',
    { a: note('mine'), ac: note('other') },
    { a: note('theirs') },
    { a: note('theirs'), ac: note('other'), acc: below('mine') },
  ],
])('of two changes of a note no text is lost: %s', (_what, mine, theirs, merged) => {
  expect(mergeDrafts(noted(old), noted(mine), noted(theirs))?.notes).toEqual(merged);
  expect(rebaseDraft(noted(old), noted(mine), noted(theirs))?.notes).toEqual(merged);
});
