import { expect, it } from 'vitest';
import { trackedReads } from './trackedReads.ts';

function tracked() {
  let now = { text: 'a', count: 0 };
  const change = (next: Partial<typeof now>) => (now = { ...now, ...next });
  return { change, ...trackedReads(() => now, { act: () => 'acted' }) };
}

it('has the same snapshot while only parts change that were not read', () => {
  const { state, snapshot, change } = tracked();
  expect(state.text).toBe('a');
  const before = snapshot();
  change({ count: 1 });
  expect(snapshot()).toBe(before);
});

it('has another snapshot when a part changes that was read', () => {
  const { state, snapshot, change } = tracked();
  expect(state.text).toBe('a');
  const before = snapshot();
  change({ text: 'b' });
  const after = snapshot();
  expect(after).not.toBe(before);
  expect(snapshot()).toBe(after);
});

it('notes all parts when they are taken as a rest', () => {
  const { state, snapshot, change } = tracked();
  const { act: _act, ...parts } = state;
  expect(parts).toEqual({ text: 'a', count: 0 });
  const before = snapshot();
  change({ count: 1 });
  expect(snapshot()).not.toBe(before);
});

it('has what is read later as it is at that moment', () => {
  const { state, change } = tracked();
  change({ text: 'b', count: 2 });
  expect([state.text, state.count, state.act()]).toEqual(['b', 2, 'acted']);
});
