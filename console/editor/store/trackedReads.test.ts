import { expect, it } from 'vitest';
import { trackedReads } from './trackedReads.ts';

function tracked() {
  let now = { text: 'a', count: 0 };
  const change = (next: Partial<typeof now>) => (now = { ...now, ...next });
  return { change, ...trackedReads(() => now, { act: () => 'acted' }) };
}

it('returns the same snapshot while only unread parts change', () => {
  const { state, snapshot, change } = tracked();
  expect(state.text).toBe('a');
  const before = snapshot();
  change({ count: 1 });
  expect(snapshot()).toBe(before);
});

it('returns a new snapshot when a part changes that was read', () => {
  const { state, snapshot, change } = tracked();
  expect(state.text).toBe('a');
  const before = snapshot();
  change({ text: 'b' });
  const after = snapshot();
  expect(after).not.toBe(before);
  expect(snapshot()).toBe(after);
});

it('records all parts that a rest pattern reads', () => {
  const { state, snapshot, change } = tracked();
  const { act: _act, ...parts } = state;
  expect(parts).toEqual({ text: 'a', count: 0 });
  const before = snapshot();
  change({ count: 1 });
  expect(snapshot()).not.toBe(before);
});

it('returns the current state when it is read later', () => {
  const { state, change } = tracked();
  change({ text: 'b', count: 2 });
  expect([state.text, state.count, state.act()]).toEqual(['b', 2, 'acted']);
});
