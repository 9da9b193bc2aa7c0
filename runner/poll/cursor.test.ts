import { expect, test } from 'vitest';
import { storedCursor, startOf } from './cursor.ts';

const inbox = { place: 'inbox' };
const reset = { value: '2026-03-02T09:00:00Z', since: '2026-03-02T09:00:00Z' };
const first = { cursor: undefined };
const sinceReset = { cursor: undefined, since: new Date(reset.since) };

test('a poll continues from the cursor of the previous poll', () => {
  const kept = storedCursor(inbox, { uid: 7 });
  expect(startOf(inbox, kept)).toEqual({ cursor: { uid: 7 } });
});

test.each([
  ['there is no cursor', undefined],
  ['the cursor is of another place', storedCursor({ place: 'other' }, { uid: 7 })],
  ['the cursor is damaged', '{"place":"inb'],
  ['it is no cursor', 'null'],
])('with %s it is a first poll', (_what, text) => {
  expect(startOf(inbox, text)).toEqual(first);
});

test('a reset is handled once, and again if its value changes', () => {
  const before = storedCursor(inbox, { uid: 7 });
  expect(startOf({ ...inbox, reset }, before)).toEqual(sinceReset);
  const after = storedCursor({ ...inbox, reset }, { uid: 3 });
  expect(startOf({ ...inbox, reset }, after)).toEqual({ cursor: { uid: 3 } });
  expect(startOf({ ...inbox, reset: { value: 'now' } }, after)).toEqual(first);
});

test('a reset that was handled for one place is not handled again for another', () => {
  const granted = storedCursor({ ...inbox, reset }, { uid: 3 });
  expect(startOf({ place: 'other', reset }, granted)).toEqual(first);
});
