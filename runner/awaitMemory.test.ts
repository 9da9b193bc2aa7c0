import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RunStoreConnection } from '../store/connection.ts';
import {
  agent,
  fail,
  mail,
  NOW,
  text,
  open,
  pass,
  phases,
  revision,
  webhook,
} from '../test/support/runner/passes.ts';
import { askMemories } from './awaitMemory.ts';
import type { ExecutionState } from './executionState.ts';
import { succeed } from './transitions.ts';
import { fireTimers } from './waits.ts';

const MINUTES = 60_000;
const nodes = [
  webhook,
  {
    ...agent('a'),
    agent: { credential: 'llm', model: 'm', prompt: 'hi', memory: { key: 'ada' } },
  },
];
type Answer = 'waiting' | 'full' | ['granted'];
/** A run store that answers the question for the memory so. */
const answering = (answer: Answer) =>
  ({ script: () => Promise.resolve(answer) }) as unknown as RunStoreConnection;

/** The agent asks, and gets the answer. */
async function ask(state: ExecutionState, answer: Answer): Promise<void> {
  await new Promise<void>((wake) => {
    const asker = { conn: answering(answer), abandon: new AbortController().signal, wake };
    askMemories(state, () => ({ project: 'p', run: 'orders-1', token: 't' }), asker);
  });
}

/** The state of a run whose agent has asked. */
async function asked(answer: Answer): Promise<ExecutionState> {
  const state = open(revision(nodes));
  pass(state);
  await ask(state, answer);
  return state;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

test('an agent waits 10 minutes for its memory, and then fails with MemoryBusy', async () => {
  const state = await asked('waiting');
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

test('an agent fails at once with MemoryBusy where too many runs wait for its memory', async () => {
  const step = pass(await asked('full'));
  expect(phases(step?.checkpoints)).toEqual({ a: 'Failed' });
  expect(step).toMatchObject({
    checkpoints: [{ reason: 'MemoryBusy', message: expect.stringContaining('200 runs wait') as string }],
    end: { phase: 'Failed' },
  });
});

test('a node that is skipped before it uses its memory releases it, so that no later one waits in vain', async () => {
  const [, remembering] = nodes;
  const group = { id: 'each', group: {}, onError: 'Continue' };
  const body = [mail('first'), remembering, mail('send')].map((node) => ({ ...node, within: 'each' }));
  const state = open(
    revision(
      [webhook, group, ...body, mail('after')],
      [
        { from: 'trigger', to: 'each' },
        { from: 'each', to: 'after' },
        { from: 'first', to: 'a' },
        { from: 'first', to: 'send' },
      ],
    ),
  );
  pass(state);
  succeed(state, 'each.0.0.1/first', text(''), NOW);
  pass(state);
  const key = 'each.0.0.1/a';
  await ask(state, ['granted']);
  fail(state, 'each.0.0.1/send');
  const steps = [pass(state), pass(state)];
  expect(steps.flatMap((step) => step?.memories ?? [])).toMatchObject([{ node: key }]);
  expect(steps.flatMap((step) => step?.starts ?? [])).toMatchObject([{ id: 'after' }]);
});
