/** What a failover loses and keeps, by how many replicas had to confirm (docs/run-store.md). */
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { connectRunStore, isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import type { TestRedis } from '../../support/runStore/redis.ts';
import { accepted, newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 30_000 };

let redis: ReplicatedRedis;
let servers: [TestRedis, TestRedis, TestRedis];
let project: string;
const connections: RunStoreConnection[] = [];
beforeEach(async () => {
  redis = await startReplicatedRedis(2);
  servers = redis.servers as [TestRedis, TestRedis, TestRedis];
  project = await newProject(await connect(2));
});
afterEach(async () => {
  await Promise.all(connections.splice(0).map((conn) => conn.close()));
  await redis.stop();
});

/** A connection for which that many replicas have to confirm. */
async function connect(replicas: number): Promise<RunStoreConnection> {
  const conn = connectRunStore({ url: redis.url(replicas), name: 'test' });
  connections.push(conn);
  await conn.ready();
  return conn;
}

/** Kills these servers, starts one again, and waits until the one that is left has been promoted. */
async function failOver(
  conn: RunStoreConnection,
  { killed, start }: { killed: readonly TestRedis[]; start?: TestRedis },
): Promise<void> {
  await Promise.all(killed.map((server) => server.kill()));
  await start?.restart();
  const to = servers.find((server) => !killed.includes(server));
  await pollUntil('a failover', async () => (await redis.primary()) === to, SOON);
  const isBack = async () => !isUnavailable(await readRun(conn, project, 'any'));
  await pollUntil('a connection to the promoted replica', isBack, SOON);
}

test('where no replica has to confirm, a failover to a replica that lags loses what was accepted', async () => {
  const [primary, other, lagging] = servers;
  const conn = await connect(0);
  const before = await accepted(conn, submissionOf(project));
  await redis.synced(2);
  await lagging.kill();
  const run = await accepted(conn, submissionOf(project));
  await failOver(conn, { killed: [primary, other], start: lagging });
  expect(await readRun(conn, project, before)).toMatchObject({ phase: 'Pending' });
  expect(await readRun(conn, project, run)).toBeUndefined();
});

test('where one of two replicas has to confirm, a failover to the other one loses what was accepted', async () => {
  const [primary, confirming, lagging] = servers;
  const conn = await connect(1);
  await lagging.kill();
  const run = await accepted(conn, submissionOf(project));
  await failOver(conn, { killed: [primary, confirming], start: lagging });
  expect(await readRun(conn, project, run)).toBeUndefined();
});

test('where all replicas have to confirm, the last one that is left has what was accepted', async () => {
  const [primary, other] = servers;
  const conn = await connect(2);
  const run = await accepted(conn, submissionOf(project));
  await failOver(conn, { killed: [primary, other] });
  expect(await readRun(conn, project, run)).toMatchObject({ phase: 'Pending' });
});

test('a primary that starts without its data takes the data of its replicas, too', async () => {
  const [primary] = servers;
  const conn = await connect(2);
  await accepted(conn, submissionOf(project));
  await primary.replace();
  const answer = await pollUntil(
    'the refusal of an event',
    async () => {
      const { outcome, ...rest } = await submit(conn, submissionOf(project));
      return outcome === 'unavailable' && 'why' in rest && rest.why !== 'connection' && rest;
    },
    SOON,
  );
  expect(answer).toMatchObject({ why: 'no-store' });
});

test('a replica that starts without its data gets that of the primary', async () => {
  const [primary, other, replica] = servers;
  const conn = await connect(2);
  const run = await accepted(conn, submissionOf(project));
  await replica.replace();
  await redis.synced(2);
  const later = await pollUntil(
    'events that are accepted',
    async () => {
      const answer = await submit(conn, submissionOf(project));
      return answer.outcome === 'accepted' && answer.run;
    },
    SOON,
  );
  await failOver(conn, { killed: [primary, other] });
  for (const name of [run, later])
    expect(await readRun(conn, project, name)).toMatchObject({ phase: 'Pending' });
});

test('a replica that starts with an older volume gets what was accepted since', async () => {
  const [primary, other, replica] = servers;
  const conn = await connect(2);
  await accepted(conn, submissionOf(project));
  await redis.synced(2);
  const file = join(replica.folder, 'appendonlydir');
  const older = join(replica.folder, 'older');
  await replica.kill();
  await cp(file, older, { recursive: true });
  await replica.restart();
  await redis.synced(2);
  const run = await accepted(conn, submissionOf(project));
  await replica.kill();
  await rm(file, { recursive: true });
  await rename(older, file);
  await replica.restart();
  await redis.synced(2);
  await failOver(conn, { killed: [primary, other] });
  expect(await readRun(conn, project, run)).toMatchObject({ phase: 'Pending' });
});
