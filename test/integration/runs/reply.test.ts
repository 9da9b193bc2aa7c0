/** Waiting for an answer: at once when it is there, at the moment it comes, and never longer than asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { createReplyWaiter, type ReplyWaiter } from '../../../runs/reply.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  submissionOf,
  succeededNode,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
let waiter: ReplyWaiter;
beforeAll(async () => {
  store = await startRunStore({ appendfsync: 'no' });
  waiter = createReplyWaiter(store.conn);
});
afterAll(async () => {
  waiter.close();
  await store?.stop();
});

const reply = { status: 200, headers: {}, body: 'x', contentType: 'text/plain' };
const options = { timeoutMs: 10_000, signal: new AbortController().signal };

async function started() {
  const project = await newProject(store.conn);
  const run = await accepted(store.conn, submissionOf(project));
  return { project, run, ref: await claimedOne(store.conn, project) };
}

test('a reply is had when it is given, before the run ends', async () => {
  const { project, run, ref } = await started();
  const waiting = waiter.wait(project, run, options);
  await advance(store.conn, ref, { reply });
  expect(await waiting).toEqual({ kind: 'reply', reply });
});

test('a reply that is there already is had at once', async () => {
  const { project, run, ref } = await started();
  await advance(store.conn, ref, { reply, end: { phase: 'Succeeded' } });
  expect(await waiter.wait(project, run, options)).toEqual({ kind: 'reply', reply });
});

test('the end of a run without a reply ends the wait, with what the nodes produced', async () => {
  const { project, run, ref } = await started();
  const waiting = waiter.wait(project, run, options);
  await advance(store.conn, ref, {
    checkpoints: [succeededNode('a')],
    end: { phase: 'Failed', reason: 'Timeout' },
  });
  expect(await waiting).toMatchObject({
    kind: 'ended',
    phase: 'Failed',
    state: { reason: 'Timeout', nodes: [succeededNode('a')] },
  });
});

test('who waits for the end is not satisfied with a reply', async () => {
  const { project, run, ref } = await started();
  const waiting = waiter.wait(project, run, { ...options, until: 'end' });
  await advance(store.conn, ref, { reply });
  await advance(store.conn, ref, { end: { phase: 'Succeeded' } });
  expect(await waiting).toMatchObject({ kind: 'ended', phase: 'Succeeded', reply });
});

test('many wait for one run, which is read a few times for all of them', async () => {
  const { project, run, ref } = await started();
  const before = await readsSoFar();
  const waiting = Array.from({ length: 200 }, () => waiter.wait(project, run, options));
  await advance(store.conn, ref, { reply });
  for (const outcome of await Promise.all(waiting)) expect(outcome).toEqual({ kind: 'reply', reply });
  expect((await readsSoFar()) - before).toBeLessThan(10);
});

/** Of all waiters, counted by the store. */
async function readsSoFar(): Promise<number> {
  const stats = (await store.conn.command('info', 'commandstats')) as string;
  return Number(/^cmdstat_hmget:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

test('the wait ends after its time, when it is aborted, and when there is no such run', async () => {
  const { project, run } = await started();
  expect(await waiter.wait(project, run, { ...options, timeoutMs: 50 })).toEqual({ kind: 'timeout' });
  const abort = new AbortController();
  const waiting = waiter.wait(project, run, { ...options, signal: abort.signal });
  abort.abort();
  expect(await waiting).toEqual({ kind: 'timeout' });
  expect(await waiter.wait(project, 'no-such-run', options)).toEqual({ kind: 'gone' });
});

test('no subscription is left behind', async () => {
  const { project, run, ref } = await started();
  await waiter.wait(project, run, { ...options, timeoutMs: 20 });
  await advance(store.conn, ref, { reply });
  await waiter.wait(project, run, options);
  const channels = async () => (await store.conn.command('pubsub', 'channels', `*${run}`)) as string[];
  await expect.poll(channels, { timeout: 20_000, interval: 5 }).toEqual([]);
});
