import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waitAtMost } from './clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a wait for work ends with the work, and leaves no timer', async () => {
  await waitAtMost(60_000, Promise.resolve());
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait for work that does not end is over after its time', async () => {
  const waiting = waitAtMost(60_000, new Promise(() => undefined));
  await vi.advanceTimersByTimeAsync(60_000);
  await expect(waiting).resolves.toBeUndefined();
});
