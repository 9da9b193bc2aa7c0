import { expect, test } from 'vitest';
import { WaitingError } from '../../kube/controller.ts';
import { createProjectSemaphore, type InTurn } from './semaphore.ts';

/** Work that goes on until it is told to end. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { run: () => promise, end: () => resolve('done'), fail: () => reject(new Error('failed')) };
}

/** After how many milliseconds one more of the project shall come again. */
async function sentAway(inTurn: InTurn, namespace = 'shop'): Promise<number> {
  const error: unknown = await inTurn(namespace, () => Promise.resolve()).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(WaitingError);
  return (error as WaitingError).ms;
}

function busy(inTurn: InTurn) {
  const works = [work(), work(), work(), work()] as const;
  return { works, ended: works.map(({ run }) => inTurn('shop', run)) };
}

test('four of a project are at work at once, and hold up no other project', async () => {
  const inTurn = createProjectSemaphore();
  const { works, ended } = busy(inTurn);
  await sentAway(inTurn);
  expect(await inTurn('office', () => Promise.resolve('done'))).toBe('done');
  for (const { end } of works) end();
  expect(await Promise.all(ended)).toEqual(['done', 'done', 'done', 'done']);
});

test('who fails makes room like who ends', async () => {
  const inTurn = createProjectSemaphore();
  const { works, ended } = busy(inTurn);
  works[0].fail();
  await expect(ended[0]).rejects.toThrow('failed');
  expect(await inTurn('shop', () => Promise.resolve('done'))).toBe('done');
});

test('the more wait, the later each comes again, until one has its turn', async () => {
  const inTurn = createProjectSemaphore();
  const { works, ended } = busy(inTurn);
  const times = [];
  for (let count = 0; count < 4_000; count += 1) times.push(await sentAway(inTurn));
  expect([times[0], times[199], times.at(-1)]).toEqual([255, 1_250, 15_000]);
  works[0].end();
  await ended[0];
  const next = work();
  const running = inTurn('shop', next.run);
  expect(await sentAway(inTurn)).toBe(255);
  next.end();
  expect(await running).toBe('done');
});
