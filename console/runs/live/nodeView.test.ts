import { expect, test } from 'vitest';
import { hasFailedItems, itemsText, waitText, phaseText } from './nodeView.ts';

test.each([
  [{ total: 10, succeeded: 2, failed: 1, running: 1 }, '3 of 10, 1 failed'],
  [{ total: 10, succeeded: 0, failed: 0, running: 1 }, '0 of 10'],
  [{ total: 1_200, succeeded: 1_200, failed: 0, running: 0 }, '1,200 items'],
  [{ total: 1, succeeded: 0, failed: 1, running: 0 }, '1 item, 1 failed'],
  [{ total: 0, succeeded: 0, failed: 0, running: 0 }, '0 items'],
])('the counts %j are shown as %s', (items, text) => {
  expect(itemsText(items)).toBe(text);
});

test.each([
  [{ until: '2026-05-01T08:00:00Z' }, /^Waits until \d+ \w+ 2026, \d\d:\d\d:\d\d\.$/],
  [{ callback: { until: '2026-05-01T08:00:00Z' } }, /^Waits for a callback until .*2026/],
  [{ memory: { until: '2026-05-01T08:00:00Z' } }, /^Waits for its memory, .* until .*2026/],
  [{ run: 'child-1' }, /^Waits for the run child-1\.$/],
  [{}, /^Waits to continue\.$/],
])('waiting for %j is a sentence', (waiting, text) => {
  expect(waitText(waiting)).toMatch(text);
});

test('only a loop that succeeded has failed items beside its phase', () => {
  const items = { total: 3, succeeded: 2, failed: 1, running: 0 };
  expect(hasFailedItems({ phase: 'Succeeded', items })).toBe(true);
  expect(hasFailedItems({ phase: 'Failed', items })).toBe(false);
  expect(hasFailedItems({ phase: 'Succeeded', items: { ...items, failed: 0 } })).toBe(false);
  expect(hasFailedItems({ phase: 'Succeeded' })).toBe(false);
  expect(hasFailedItems(undefined)).toBe(false);
});

test('a node that is pending when its run has ended never ran', () => {
  expect(phaseText('Pending', false)).toBe('Pending');
  expect(phaseText('Pending', true)).toBe('Not run');
  expect(phaseText('Skipped', true)).toBe('Skipped');
});
