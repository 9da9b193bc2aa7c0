import { expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { createIdleMemory } from './idleMemory.ts';

const MINUTE = 60_000;

function idleMemory() {
  const clock = createManualClock();
  const collected: number[] = [];
  const memory = createIdleMemory({ collect: () => void collected.push(clock.now()), clock });
  return { clock, collected, memory };
}

test('a runner that gets no run collects once, a minute after its start', async () => {
  const { clock, collected } = idleMemory();
  await clock.advance(10 * MINUTE);
  expect(collected).toEqual([MINUTE]);
});

test('it collects once a minute after the end of its last run', async () => {
  const { clock, collected, memory } = idleMemory();
  for (let run = 0; run < 100; run += 1) {
    memory.setBusy(true);
    await clock.advance(1_000);
    memory.setBusy(false);
    await clock.advance(1_000);
  }
  expect(collected).toEqual([]);
  await clock.advance(10 * MINUTE);
  expect(collected).toEqual([199_000 + MINUTE]);
});

test('a run that is executed for long is not disturbed', async () => {
  const { clock, collected, memory } = idleMemory();
  memory.setBusy(true);
  await clock.advance(10 * MINUTE);
  expect(collected).toEqual([]);
  memory.setBusy(false);
  await clock.advance(MINUTE);
  expect(collected).toEqual([11 * MINUTE]);
});

test('a runner that stops collects no more', async () => {
  const { clock, collected, memory } = idleMemory();
  memory.stop();
  await clock.advance(10 * MINUTE);
  expect(collected).toEqual([]);
});
