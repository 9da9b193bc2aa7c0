import { expect, test } from 'vitest';
import { AgentCalls } from './agentCalls.ts';

const entries = (...names: string[]) => new Map(names.map((name) => [name, `"${name}"`]));
/** How a promise has ended so far: undefined while it is pending. */
async function endOf(promise: Promise<void>): Promise<unknown> {
  let end: unknown;
  void promise.then(
    () => (end = 'stored'),
    (error: unknown) => (end = error),
  );
  await new Promise(setImmediate);
  return end;
}

test('the calls that are stored at the claim belong to the nodes of their keys', () => {
  const calls = new AgentCalls(
    new Map([
      ['a/m1', '1'],
      ['a/m1.0', '2'],
      ['each.3.0.1/a/m1', '3'],
    ]),
  );
  expect([...calls.of('a')]).toEqual([
    ['m1', '1'],
    ['m1.0', '2'],
  ]);
  expect([...calls.of('each.3.0.1/a')]).toEqual([['m1', '3']]);
  expect([...calls.of('b')]).toEqual([]);
});

test('an agent continues when its calls are stored, and not before', async () => {
  const calls = new AgentCalls();
  const first = calls.store('a', entries('m1'), 100);
  expect(calls.take()).toEqual({ calls: [{ key: 'a/m1', value: '"m1"', isAnswer: true }] });
  const second = calls.store('b', entries('m1.0', 'm1.1!'), 50);
  expect(calls.of('a').size).toBe(0);
  expect(await endOf(first)).toBeUndefined();
  calls.noteStored();
  expect(await endOf(first)).toBe('stored');
  expect(calls.of('a').get('m1')).toBe('"m1"');
  expect(await endOf(second)).toBeUndefined();
  expect(calls.take()?.calls?.map(({ key, isAnswer }) => [key, isAnswer])).toEqual([
    ['b/m1.0', false],
    ['b/m1.1!', false],
  ]);
});

test('the room for results is that of all agents, until an agent has ended', () => {
  const calls = new AgentCalls();
  void calls.store('a', entries('m1'), 100);
  void calls.store('b', entries('m1'), 50);
  expect(calls.reservedBytes).toBe(150);
  void calls.store('a', entries('m1.0'), 0);
  expect(calls.reservedBytes).toBe(50);
  calls.drop('b');
  expect(calls.reservedBytes).toBe(0);
});

test('where the run has no room, agents with an answer fail, and results are stored without it', async () => {
  const calls = new AgentCalls();
  const answer = calls.store('a', entries('m2'), 100);
  const result = calls.store('b', entries('m1.0'), 20);
  calls.take();
  calls.noteRefused('8192 KiB');
  expect(await endOf(answer)).toMatchObject({
    reason: 'TranscriptTooLarge',
    retryable: false,
    message: expect.stringContaining('could exceed 8192 KiB') as string,
  });
  expect(calls.reservedBytes).toBe(20);
  expect(calls.take()?.calls?.map(({ key }) => key)).toEqual(['b/m1.0']);
  calls.noteStored();
  expect(await endOf(result)).toBe('stored');
  expect(calls.take()).toBeUndefined();
});

test('the calls of an agent that has ended are removed once, and again after a refused step', () => {
  const calls = new AgentCalls(new Map([['a/m1', '1']]));
  void calls.store('a', entries('m1.0'), 0);
  calls.take();
  calls.noteStored();
  calls.drop('a');
  const dropped = calls.takeDropped();
  expect(dropped).toEqual(['a/m1', 'a/m1.0']);
  expect(calls.takeDropped()).toEqual([]);
  calls.dropAgain(dropped);
  expect(calls.takeDropped()).toEqual(dropped);
});

test('nothing is stored of a run that is no longer executed', async () => {
  const calls = new AgentCalls();
  const taken = calls.store('a', entries('m1'), 0);
  calls.take();
  const waiting = calls.store('a', entries('m1.0'), 0);
  const ends = Promise.all([endOf(taken), endOf(waiting)]);
  calls.close();
  expect(await ends).toMatchObject([{ reason: 'Cancelled' }, { reason: 'Cancelled' }]);
});
