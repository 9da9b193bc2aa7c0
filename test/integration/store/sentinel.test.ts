/** Sentinels: failovers, and sentinels that are wrong. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import {
  connectRunStore,
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
} from '../../../store/connection.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { freePort } from '../../support/process/freePort.ts';
import { startFakeSentinel } from '../../support/runStore/fakeSentinel.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { newProject, submissionOf } from '../../support/runStore/runStore.ts';
import {
  callServer,
  monitorOf,
  PRIMARY,
  sentinelURL,
  startReplicatedRedis,
  startSentinel,
  type ReplicatedRedis,
} from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';

const unavailable = { outcome: 'unavailable', why: 'connection' };
const SOON = { timeoutMs: 20_000 };

let redis: ReplicatedRedis;
let primary: TestRedis;
let replica: TestRedis;
let conn: RunStoreConnection;
const others: RunStoreConnection[] = [];
beforeEach(async () => {
  redis = await startReplicatedRedis(1);
  [primary, replica] = redis.servers as [TestRedis, TestRedis];
  conn = connectRunStore({ url: redis.url(1), name: 'test' });
  await conn.ready();
});
afterEach(async () => {
  await Promise.all([conn, ...others.splice(0)].map((each) => each.close()));
  await redis.stop();
});

/** Whether an event is accepted now. */
async function accepts(project: string): Promise<boolean> {
  const { outcome } = await submit(conn, submissionOf(project));
  return outcome === 'accepted';
}

test('every event that was accepted is in the promoted replica, and further ones wait for a replica', async () => {
  const project = await newProject(conn);
  const acceptedRuns: string[] = [];
  const stop = new AbortController();
  const client = async (name: string) => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      const outcome = await submit(conn, submissionOf(project, { dedupeKey: `${name}-${count}` }));
      if (outcome.outcome === 'accepted') acceptedRuns.push(outcome.run);
    }
  };
  const clients = Array.from({ length: 8 }, (_, index) => client(`client-${index}`));
  await pollUntil('some events', () => acceptedRuns.length > 300, SOON);

  let failovers = 0;
  conn.onFailover(project, () => void (failovers += 1));
  await primary.kill();
  await pollUntil('a failover', async () => (await redis.primary()) === replica, SOON);
  await pollUntil(
    'a connection to the promoted replica',
    async () => !isUnavailable(await readRun(conn, project, 'x')),
    SOON,
  );
  const before = acceptedRuns.length;
  expect(await accepts(project)).toBe(false);
  expect(failovers).toBe(1);

  await primary.restart();
  await pollUntil('events that are accepted again', () => acceptedRuns.length > before + 100, SOON);
  stop.abort();
  await Promise.all(clients);

  const states = await Promise.all(acceptedRuns.map((run) => readRun(conn, project, run)));
  expect(states.filter((state) => state === undefined || isUnavailable(state))).toEqual([]);
});

/** A connection for which no replica has to confirm. */
async function connectWithoutBarriers(askServersEveryMs: number): Promise<RunStoreConnection> {
  const careless = connectRunStore({ url: redis.url(0), name: 'careless', askServersEveryMs });
  others.push(careless);
  await careless.ready();
  return careless;
}

const leaves = (left: RunStoreConnection) =>
  pollUntil(
    'a connection to the new primary',
    async () => {
      const port = await orUnavailable(() => left.command('config', 'get', 'port'));
      return JSON.stringify(port).includes(String(replica.port));
    },
    SOON,
  );

test('a former primary that is cut off is left: by barriers, by refused writes, and by those who only read', async () => {
  const project = await newProject(conn);
  expect(await accepts(project)).toBe(true);
  const reader = await connectWithoutBarriers(100);
  const writer = await connectWithoutBarriers(3_600_000);
  await callServer(primary.port, ['config', 'set', 'min-replicas-to-write', '1']);
  await callServer(replica.port, ['replicaof', 'no', 'one']);
  for (const { call } of redis.sentinels) {
    await call('sentinel', 'remove', PRIMARY);
    const [, , , host = '', port = '', quorum = ''] = monitorOf(replica.port).split(/\s/);
    await call('sentinel', 'monitor', PRIMARY, host, port, quorum);
  }
  await leaves(reader);
  expect(await accepts(project)).toBe(false);
  await leaves(conn);
  await pollUntil('a refused write', () => isRefused(writer), SOON);
  await leaves(writer);
});

test('while nothing changes, each question goes to one sentinel only', async () => {
  const received = async () => {
    const texts = await Promise.all(redis.sentinels.map(({ call }) => call('info', 'stats')));
    return texts.map((text) => Number(/total_connections_received:(\d+)/.exec(String(text))?.[1]));
  };
  const everyMs = 100;
  await connectWithoutBarriers(everyMs);
  const [before, from] = [await received(), performance.now()];
  await pollUntil('each sentinel asked', async () => smallest(before, await received()) > 4, {
    ...SOON,
    everyMs: 500,
  });
  const after = await received();
  // A connection of each for these questions about connections, and the other connection's own.
  const asked = after.reduce((sum, count, index) => sum + count - (before[index] ?? 0), 0);
  // A time of n intervals has up to n + 1 questions. Asking all three sentinels would be three times as many.
  const atMost = 1 + (performance.now() - from) / (everyMs * 0.8);
  expect(asked).toBeLessThan(atMost * 2);
});

const smallest = (before: readonly number[], after: readonly number[]): number =>
  Math.min(...after.map((count, index) => count - (before[index] ?? 0)));

async function isRefused(writer: RunStoreConnection): Promise<boolean> {
  return isUnavailable(await orUnavailable(() => writer.command('set', 'any', 'value')));
}

/** The problem that the log of a new connection names, and how it answers an event. */
async function problemOf(url: string) {
  const log = createCollectedLog();
  const wrong = connectRunStore({ url, name: 'wrong', log });
  const found = await pollUntil(
    'a line of the log',
    () => log.entries.find(({ level }) => level === 'warn'),
    SOON,
  );
  const answer = await submit(wrong, submissionOf('project-1'));
  await wrong.close();
  return { answer, message: found.message, fields: found.fields };
}

const noPrimary = (problem: string) => ({
  answer: unavailable,
  message: 'run store: no primary found',
  fields: { problem },
});

test('sentinels that do not know the name of the primary are named in the log', async () => {
  const found = await problemOf(sentinelURL(redis.sentinels, 1, 'other'));
  expect(found).toMatchObject(noPrimary('sentinels do not know the primary'));
});

test('servers in the place of sentinels are named in the log', async () => {
  const found = await problemOf(sentinelURL(redis.servers, 1));
  expect(found).toMatchObject(noPrimary('sentinels refuse the question'));
});

test('sentinels that name different primaries are named in the log', async () => {
  const other = await startRedis();
  const disagreeing = await startSentinel([monitorOf(other.port)]);
  const [first] = redis.sentinels;
  const found = await problemOf(sentinelURL(first ? [first, disagreeing] : [], 1));
  expect(found).toMatchObject(noPrimary('sentinels disagree about the primary'));
  await disagreeing.stop();
  await other.stop();
});

test('sentinels that name an impossible address are asked again until they name a server', async () => {
  let named = 99_999;
  const sentinel = await startFakeSentinel(() => named);
  const server = await startRedis();
  const log = createCollectedLog();
  const program = connectRunStore({ url: sentinelURL([sentinel], 0), name: 'test', log });
  others.push(program);
  await pollUntil('a line of the log', () => log.messages('warn').length > 0, SOON);
  expect(log.entries.find(({ level }) => level === 'warn')?.fields).toEqual({
    problem: 'sentinels do not know the primary',
  });
  named = server.port;
  await program.ready(AbortSignal.timeout(5_000));
  expect(program.healthy()).toBe(true);
  await server.stop();
  await sentinel.stop();
});

test('a minority of sentinels names no primary', async () => {
  for (const sentinel of redis.sentinels.slice(1)) sentinel.freeze();
  const found = await problemOf(redis.url(1));
  expect(found).toMatchObject(noPrimary('too few sentinels answer'));
});

test('a member of a Redis Cluster in the place of a single server is named in the log', async () => {
  // Its own choice, 10,000 above its port, may be in use.
  const member = await startRedis({ config: ['cluster-enabled yes', `cluster-port ${await freePort()}`] });
  const log = createCollectedLog();
  const wrong = connectRunStore({ url: member.url, name: 'wrong', log });
  await wrong.ready();
  expect(await submit(wrong, submissionOf('project-1'))).toMatchObject(unavailable);
  expect(await submit(wrong, submissionOf('project-1'))).toMatchObject(unavailable);
  expect(log.messages('error')).toEqual(['run store: server belongs to a cluster']);
  await wrong.close();
  await member.stop();
});
