import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunStoreConnection } from '../store/connection.ts';
import { agent, open, pass, phases, revision, webhook } from '../test/support/runner/passes.ts';
import { askMemories } from './awaitMemory.ts';
import { fireTimers } from './waits.ts';

const MINUTES = 60_000;
const nodes = [
  webhook,
  {
    ...agent('a'),
    agent: { credential: 'llm', model: 'm', prompt: 'hi', memory: { key: 'ada' } },
  },
];
/** A run store in which other runs use the memory. */
const busy = { script: () => Promise.resolve('waiting') } as unknown as RunStoreConnection;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

test('an agent waits 10 minutes for its memory, and then fails with MemoryBusy', async () => {
  const state = open(revision(nodes));
  pass(state);
  await new Promise<void>((wake) => {
    const asker = { conn: busy, abandon: new AbortController().signal, wake };
    askMemories(state, () => ({ project: 'p', run: 'orders-1', token: 't' }), asker);
  });
  expect(pass(state)).toMatchObject({
    checkpoints: [{ id: 'a', phase: 'Waiting', waitingFor: { memory: true } }],
    waits: [{ id: 'a', delayMs: 10 * MINUTES }],
  });
  vi.advanceTimersByTime(10 * MINUTES - 1);
  fireTimers(state);
  expect(pass(state)).toBeUndefined();
  vi.advanceTimersByTime(1);
  fireTimers(state);
  const step = pass(state);
  expect(phases(step?.checkpoints)).toEqual({ a: 'Failed' });
  expect(step).toMatchObject({
    checkpoints: [{ reason: 'MemoryBusy', message: expect.stringContaining('for 10 minutes') as string }],
    memories: [{ node: 'a' }],
    end: { phase: 'Failed' },
  });
});
