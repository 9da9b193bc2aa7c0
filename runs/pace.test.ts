import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NO_WORK } from '../test/support/runStore/pulse.ts';
import { createPaces, createPollingPace, type Pace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** After how many milliseconds the wait ends; `while` happens meanwhile. */
async function waited(
  pace: Pace,
  times: { busyMs: number; nextMs?: number },
  events: Record<number, () => void> = {},
): Promise<number> {
  const ended: number[] = [];
  const begin = Date.now();
  void pace.wait(times).then(() => ended.push(Date.now() - begin));
  for (let ms = 0; ended.length === 0 && ms <= 10_000; ms += 100) {
    events[ms]?.();
    await vi.advanceTimersByTimeAsync(100);
  }
  return ended[0] ?? -1;
}

test('a loop of a busy runner polls, and one that knows a time earlier than that waits until then', async () => {
  const pace = createPaces().of(() => false);
  expect(await waited(pace, { busyMs: 1_000 })).toBe(1_000);
  expect(await waited(pace, { busyMs: 1_000, nextMs: 300 })).toBe(300);
  expect(await waited(createPollingPace(), { busyMs: 500, nextMs: 5_000 })).toBe(500);
});

test('a loop of an idle runner waits for the time that it knows, and without one for ever', async () => {
  const paces = createPaces();
  const pace = paces.of(() => false);
  paces.setBusy(false);
  expect(await waited(pace, { busyMs: 100, nextMs: 4_000 })).toBe(4_000);
  expect(await waited(pace, { busyMs: 100 })).toBe(-1);
});

test('a pulse wakes the loops that it has work for, and no others', async () => {
  const paces = createPaces();
  const ready = paces.of(({ hasReady }) => hasReady);
  const cancels = paces.of(({ hasCancels }) => hasCancels);
  paces.setBusy(false);
  const note = { 200: () => paces.note({ ...NO_WORK, hasReady: true }) };
  expect(await waited(ready, { busyMs: 100 }, note)).toBe(200);
  expect(await waited(cancels, { busyMs: 100 }, note)).toBe(-1);
});

test('work that is announced while the loop works ends its next wait at once, and only that one', async () => {
  const pace = createPollingPace();
  pace.raise();
  expect(await waited(pace, { busyMs: 1_000 })).toBe(0);
  expect(await waited(pace, { busyMs: 1_000 })).toBe(1_000);
});

test('a runner that becomes busy polls from then on, and once more after it has become idle', async () => {
  const paces = createPaces();
  const pace = paces.of(() => false);
  paces.setBusy(false);
  const busy = { 300: () => paces.setBusy(true), 400: () => paces.setBusy(false) };
  expect(await waited(pace, { busyMs: 1_000 }, busy)).toBe(1_300);
  expect(await waited(pace, { busyMs: 1_000 })).toBe(-1);
});

test('a wait ends when its signal is aborted, and does not begin with one that is', async () => {
  const paces = createPaces();
  const pace = paces.of(() => false);
  paces.setBusy(false);
  const ending = new AbortController();
  const waiting = pace.wait({ busyMs: 100 }, ending.signal);
  ending.abort();
  await waiting;
  await pace.wait({ busyMs: 100 }, ending.signal);
  expect(vi.getTimerCount()).toBe(0);
});
