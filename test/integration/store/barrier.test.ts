/**
 * Barriers with a real replica that is frozen: what a caller is told is on the replica, and everything else
 * is unknown or refused.
 */
import type { Redis } from 'ioredis';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { createReplyWaiter } from '../../../runs/reply.ts';
import { signalRun } from '../../../runs/signals.ts';
import { submit } from '../../../runs/submit.ts';
import type { Reply } from '../../../runs/types/result.ts';
import { createBarrier } from '../../../store/barrier.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { dropConnection, closeRedis, openRedis, untilReady } from '../../../store/redis.ts';
import { createCollectedLog, type CollectedLog } from '../../support/logs/collectedLog.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { accepted, newProject, startedRun, submissionOf } from '../../support/runStore/runStore.ts';
import { callServer, startReplicatedRedis, type ReplicatedRedis } from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createManualClock, settled } from '../../support/time/manualClock.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const unavailable = { outcome: 'unavailable', why: 'connection' };
const SOON = { timeoutMs: 20_000 };

let redis: ReplicatedRedis;
let replica: TestRedis;
let log: CollectedLog;
let conn: RunStoreConnection;
beforeAll(async () => {
  redis = await startReplicatedRedis(1);
  replica = redis.servers[1] as TestRedis;
});
beforeEach(async () => {
  log = createCollectedLog();
  conn = connectRunStore({ url: redis.url(1), name: 'test', log });
  await conn.ready();
});
afterEach(async () => {
  await conn.close();
  replica.thaw();
  await redis.synced(1);
});
afterAll(() => redis.stop());

test('a frozen replica makes events unknown, then refused, and a repetition is the same run', async () => {
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'order-1' });
  await accepted(conn, submissionOf(project));
  replica.freeze();

  const took = stopwatch();
  expect(await submit(conn, event)).toMatchObject(unavailable);
  expect(took()).toBeLessThan(2_000);
  const tookNext = stopwatch();
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'order-2' }))).toMatchObject(unavailable);
  expect(tookNext()).toBeLessThan(200);
  // Only the first was executed. Reads are not delayed.
  expect(await conn.command('hget', `wl:{${project}}:wf:uid-orders`, 'accepted')).toBe('2');
  expect(log.messages('warn')).toEqual(['run store: replicas do not confirm writes']);

  replica.thaw();
  const repeated = await pollUntil(
    'the repetition to be accepted',
    async () => {
      const outcome = await submit(conn, event);
      return outcome.outcome === 'accepted' && outcome;
    },
    SOON,
  );
  expect(repeated.duplicate).toBe(true);
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'order-2' }))).toMatchObject({
    outcome: 'accepted',
    duplicate: false,
  });
  await pollUntil('the line of the log', () => log.messages('info').length === 2, SOON);
  expect(log.messages('info')).toEqual(['run store: connected', 'run store: replicas confirm writes again']);
});

test('a duplicate of an event that no replica has confirmed is not answered as accepted', async () => {
  const project = await newProject(conn);
  const event = submissionOf(project, { dedupeKey: 'order-1' });
  replica.freeze();
  expect(await submit(conn, event)).toMatchObject(unavailable);
  // Another gateway, which has not yet seen that replicas do not confirm.
  const other = connectRunStore({ url: redis.url(1), name: 'other' });
  await other.ready();
  expect(await submit(other, event)).toMatchObject(unavailable);
  await other.close();
});

test('cancels and callbacks are answered once replicas have them', async () => {
  const ref = await startedRun(conn);
  replica.freeze();
  const cancelled = await cancelRun(conn, ref.project, ref.run);
  const signal = { run: ref.run, node: 'approve', value: '{"ok":true}' };
  const signaled = await signalRun(conn, ref.project, signal);
  expect([cancelled, signaled]).toMatchObject([unavailable, unavailable]);

  replica.thaw();
  await pollUntil(
    'the cancel to be answered',
    async () => (await cancelRun(conn, ref.project, ref.run)).outcome === 'requested',
    SOON,
  );
  expect(await signalRun(conn, ref.project, signal)).toEqual({ outcome: 'over' });
});

test('the start mark of an effect that must not be repeated waits for replicas, others do not', async () => {
  const ref = await startedRun(conn);
  const start = { id: 'mail', attempt: 1, at: 1 };
  replica.freeze();
  expect(await advance(conn, ref, { starts: [{ ...start, atMostOnce: false }] })).toMatchObject({
    outcome: 'done',
  });
  expect(await advance(conn, ref, { starts: [{ ...start, atMostOnce: true }] })).toMatchObject(unavailable);

  replica.thaw();
  await pollUntil(
    'the mark to be answered',
    async () => (await advance(conn, ref, { starts: [{ ...start, atMostOnce: true }] })).outcome === 'done',
    SOON,
  );
});

test('a stored reply is delivered once replicas have it', async () => {
  const ref = await startedRun(conn);
  const waiter = createReplyWaiter(conn);
  const reply: Reply = { status: 200, headers: {}, body: 'hello', contentType: 'text/plain' };
  replica.freeze();
  const options = { signal: new AbortController().signal };
  const early = waiter.wait(ref.project, ref.run, { ...options, timeoutMs: 2_500 });
  await advance(conn, ref, { reply, end: { phase: 'Succeeded' } });
  expect(await early).toEqual({ kind: 'timeout' });

  replica.thaw();
  expect(await waiter.wait(ref.project, ref.run, { ...options, timeoutMs: 20_000 })).toMatchObject({
    kind: 'reply',
    reply,
  });
  waiter.close();
});

test('a barrier adds nothing to the log of the primary, which would be synced again', async () => {
  const project = await newProject(conn);
  const { port } = redis.servers[0] as TestRedis;
  const logBytes = async () =>
    /aof_current_size:(\d+)/.exec(String(await callServer(port, ['info', 'persistence'])))?.[1];
  const before = await logBytes();
  expect(await conn.replicated(project, async () => 'read')).toBe('read');
  expect(await logBytes()).toBe(before);
  await accepted(conn, submissionOf(project));
  expect(Number(await logBytes())).toBeGreaterThan(Number(before));
});

test('with fewer replicas than have to confirm nothing is accepted', async () => {
  const demanding = connectRunStore({ url: redis.url(2), name: 'demanding' });
  await demanding.ready();
  const project = await newProject(conn);
  expect(await submit(demanding, submissionOf(project))).toMatchObject(unavailable);
  await demanding.close();
});

test('without replicas that have to confirm, a frozen replica changes nothing', async () => {
  const careless = connectRunStore({ url: redis.url(0), name: 'careless' });
  await careless.ready();
  const project = await newProject(careless);
  replica.freeze();
  expect(await submit(careless, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
  await careless.close();
});

/** Between two barriers that ask whether replicas confirm again. */
const PROBE_MS = 250;

/** `ofBarriers` is undefined before the first barrier. */
type Connections = { ofCalls: Redis; ofBarriers: Redis | undefined };

/**
 * A barrier for calls to a server, whose own connection goes to another place. `read`: as its option. Its
 * clock moves only when the test says so.
 */
async function barrierTo(url: string, read = readKey) {
  const options = { url: redis.url(1), name: 'calls' };
  const main = openRedis(options);
  const connections: Connections = { ofCalls: main, ofBarriers: undefined };
  await untilReady(main);
  const clock = createManualClock();
  const barrier = createBarrier({
    main,
    open: () => (connections.ofBarriers = openRedis({ ...options, url })),
    read: (key) => read(connections, key),
    replicas: 1,
    log: undefined,
    onUnconfirmed: () => undefined,
    clock,
  });
  return { main, barrier, clock, close: () => Promise.all([barrier.close(), closeRedis(main)]) };
}

const readKey = ({ ofCalls }: Connections, key: string): Promise<unknown> => ofCalls.get(key);
const done = () => Promise.resolve('done');

test('a barrier that reaches another server than the calls confirms nothing', async () => {
  const other = await startRedis();
  const { barrier, close } = await barrierTo(other.url);
  await expect(barrier.replicated('project-1', done)).rejects.toThrow('different servers');
  await close();
  await other.stop();
});

test('a barrier that asks whether replicas confirm again does not fail the one of a call', async () => {
  let reads = 0;
  const { barrier, clock, close } = await barrierTo(redis.url(1), async (connections, key) => {
    reads += 1;
    if (reads === 1) return 'of another server';
    if (reads === 2) {
      // The next one is due while that of the call is on its way: what it wrote now would be read below.
      await clock.advance(PROBE_MS);
      await connections.ofBarriers?.ping();
    }
    return readKey(connections, key);
  });
  const called = Promise.withResolvers<string>();
  const late = barrier.replicated('project-1', () => called.promise);
  await expect(barrier.replicated('project-1', done)).rejects.toThrow('different servers');
  called.resolve('late');
  expect(await late).toBe('late');
  await close();
});

test('a slow call and its barrier together take less than two seconds', async () => {
  const { barrier, clock, close } = await barrierTo(redis.url(1));
  await barrier.replicated('project-1', done);
  replica.freeze();
  const called = Promise.withResolvers<string>();
  const outcome = barrier.replicated('project-1', () => called.promise).catch(String);
  await clock.advance(1_300);
  called.resolve('done');
  await settled();
  await clock.advance(699);
  expect(await outcome).toContain('in time');
  await close();
});

test('what a connection answered before it was lost is not confirmed by the next one', async () => {
  const { main, barrier, close } = await barrierTo(redis.url(1));
  const reconnect = async () => {
    dropConnection(main);
    await once(main, 'ready');
  };
  await expect(barrier.replicated('project-1', reconnect)).rejects.toThrow('another server');
  expect(await barrier.replicated('project-1', done)).toBe('done');
  await close();
});
