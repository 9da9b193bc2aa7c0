/** What tests of `windlass store move` share: servers, projects with data, and the command. */
import { afterEach, expect } from 'vitest';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { windlass, type LineOptions, type Printed } from '../cli/line.ts';
import type { CollectedLog } from '../logs/collectedLog.ts';
import { startRedis, type RedisOptions, type TestRedis } from './redis.ts';
import { accepted, claimed, newProject, submissionOf } from './runStore.ts';
import { startReplicatedRedis, type ReplicatedRedis } from './sentinel.ts';

type MoveSetUp = {
  /** Starts a server. */
  redis: (options?: RedisOptions) => Promise<TestRedis>;
  /** Starts a primary with so many replicas, and sentinels. */
  replicatedRedis: (replicas: number) => Promise<ReplicatedRedis>;
  /** Connects as a program does. */
  connected: (url: string, options?: { log?: CollectedLog; caFile?: string }) => Promise<RunStoreConnection>;
  /** Calls `stop` after the test, before those that were given earlier. */
  stopAfterTest: (stop: () => unknown) => void;
};

/** Call it once, at the top of a test file. What a test starts is stopped after it. */
export function setUpMoves(): MoveSetUp {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  });
  return {
    redis: async (options = {}) => {
      const server = await startRedis(options);
      stops.push(() => server.stop());
      return server;
    },
    replicatedRedis: async (replicas) => {
      const replicated = await startReplicatedRedis(replicas);
      stops.push(() => replicated.stop());
      return replicated;
    },
    connected: async (url, options = {}) => {
      const conn = connectRunStore({ url, name: 'windlass-gateway', ...options });
      stops.push(() => conn.close());
      await conn.ready();
      return conn;
    },
    stopAfterTest: (stop) => void stops.push(stop),
  };
}

/** A project with a claimed run, one that waits for a runner, a dedupe key, and a reply that expires. */
export type Filled = { project: string; waiting: string; executing: string };

/** Fills projects, as programs did that are stopped now. */
export async function filled(url: string, projects = 3): Promise<Filled[]> {
  const conn = connectRunStore({ url, name: 'windlass-gateway' });
  await conn.ready();
  const made: Filled[] = [];
  for (let index = 0; index < projects; index += 1) made.push(await fill(conn));
  await conn.close();
  return made;
}

async function fill(conn: RunStoreConnection): Promise<Filled> {
  const project = await newProject(conn);
  const executing = await accepted(conn, submissionOf(project));
  await claimed(conn, project, 1);
  const waiting = await accepted(conn, submissionOf(project, { dedupeKey: 'order-1' }));
  const { prefix } = keysOf(project);
  await conn.command('set', `${prefix}reply:w:h`, 'kept', 'px', 3_600_000);
  await conn.command('zadd', `${prefix}seen:w:n`, '1764399999123456', 'a', '0.1', 'b');
  await conn.command('sadd', `${prefix}seenby:w`, 'n1', 'n2');
  await conn.command('rpush', `${prefix}ev:x`, 'one', 'two', 'one');
  return { project, waiting, executing };
}

/** Executes `windlass store move` with the URLs of source and target, and further options. */
export function move(
  from: string,
  to: string,
  more: readonly string[] = [],
  options: LineOptions = {},
): Promise<Printed> {
  return windlass(['store', 'move', '--from', from, '--to', to, ...more], options);
}

/**
 * Expects that the project works there: its waiting run can be claimed, and its claimed run is still
 * claimed.
 */
export async function expectOpen(
  conn: RunStoreConnection,
  { project, waiting, executing }: Filled,
): Promise<void> {
  const claims = await claimed(conn, project, 10, 'runner-2');
  expect(claims.map(({ state }) => state.run)).toEqual([waiting]);
  expect(await readRun(conn, project, executing)).toMatchObject({ run: executing });
  expect(await conn.command('hexists', keysOf(project).claims, executing)).toBe(1);
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'order-1' }))).toMatchObject({ run: waiting });
}
