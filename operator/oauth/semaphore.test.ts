import { expect, test } from 'vitest';
import { WaitingError } from '../../kube/controller.ts';
import { createProjectSemaphore, type ProjectSemaphore } from './semaphore.ts';

/** Work that continues until it is ended. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { run: () => promise, end: () => resolve('done'), fail: () => reject(new Error('failed')) };
}

/** The delay of one more request of the project, which is rejected, in milliseconds. */
async function rejectedMs(limited: ProjectSemaphore, namespace = 'shop'): Promise<number> {
  const error: unknown = await limited(namespace, () => Promise.resolve()).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(WaitingError);
  return (error as WaitingError).ms;
}

function busy(limited: ProjectSemaphore) {
  const works = [work(), work(), work(), work()] as const;
  return { works, ended: works.map(({ run }) => limited('shop', run)) };
}

test('four requests of a project are in progress at once, and do not delay other projects', async () => {
  const limited = createProjectSemaphore();
  const { works, ended } = busy(limited);
  await rejectedMs(limited);
  expect(await limited('office', () => Promise.resolve('done'))).toBe('done');
  for (const { end } of works) end();
  expect(await Promise.all(ended)).toEqual(['done', 'done', 'done', 'done']);
});

test('a failed request releases its permit', async () => {
  const limited = createProjectSemaphore();
  const { works, ended } = busy(limited);
  works[0].fail();
  await expect(ended[0]).rejects.toThrow('failed');
  expect(await limited('shop', () => Promise.resolve('done'))).toBe('done');
});

test('the delay grows with each rejected request, until one begins', async () => {
  const limited = createProjectSemaphore();
  const { works, ended } = busy(limited);
  const times = [];
  for (let count = 0; count < 4_000; count += 1) times.push(await rejectedMs(limited));
  expect([times[0], times[199], times.at(-1)]).toEqual([255, 1_250, 15_000]);
  works[0].end();
  await ended[0];
  const next = work();
  const running = limited('shop', next.run);
  expect(await rejectedMs(limited)).toBe(255);
  next.end();
  expect(await running).toBe('done');
});
