/**
 * A replicated run store with real programs: a primary, its replicas, and three sentinels that promote one of
 * them within some seconds. Nothing is left when it is stopped.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectRunStore } from '../../../store/connection.ts';
import { makeFolder } from '../process/folder.ts';
import { freePort } from '../process/freePort.ts';
import { pollUntil } from '../time/poll.ts';
import { end, launch, startRedis, type RedisOptions, type TestRedis } from './redis.ts';

/** The name of the primary in the sentinels. */
export const PRIMARY = 'windlass';
const SENTINELS = 3;
/** So that a replica is in sync at once, and a frozen one is noticed in a test. */
const REPLICATION = ['repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'];
const READY_MS = 20_000;

export type Account = { username: string; password: string };

export type TestSentinel = {
  port: number;
  /** Runs a command of it. */
  call: (...command: string[]) => Promise<unknown>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
};

export type ReplicatedRedis = {
  /** For programs, with the number of replicas that have to confirm. */
  url(replicas: number): string;
  /** The first is the primary at the start. */
  servers: readonly TestRedis[];
  sentinels: readonly TestSentinel[];
  /** The server that the sentinels name as the primary now. */
  primary(): Promise<TestRedis>;
  /** Waits until every replica follows the primary. */
  synced(replicas: number): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the servers and waits until the sentinels know all of them. */
export async function startReplicatedRedis(
  replicas: number,
  options: RedisOptions = {},
): Promise<ReplicatedRedis> {
  const first = await startRedis({ ...options, config: replicationConfig(options.config) });
  const replicated = await replicateRedis(first, replicas, options);
  return {
    ...replicated,
    stop: async () => {
      await replicated.stop();
      await first.stop();
    },
  };
}

/** The configuration of a server that replicates. `account`: by which replicas log in to their primary. */
export function replicationConfig(config: readonly string[] = [], account?: Account): string[] {
  const login = account ? [`masteruser ${account.username}`, `masterauth ${account.password}`] : [];
  return [...REPLICATION, ...login, ...config];
}

/**
 * Adds replicas and sentinels to a server with `replicationConfig`, which they do not stop. `account`: by
 * which they and the helpers log in; left out: `default`.
 */
export async function replicateRedis(
  first: TestRedis,
  replicas: number,
  options: RedisOptions,
  account?: Account,
): Promise<ReplicatedRedis> {
  const config = [...replicationConfig(options.config, account), `replicaof 127.0.0.1 ${first.port}`];
  const followers = await Promise.all(
    Array.from({ length: replicas }, () => startRedis({ ...options, config })),
  );
  const servers = [first, ...followers];
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, () => startSentinel([monitorOf(first.port, account)])),
  );
  const primary = async (): Promise<TestRedis> => {
    const named = (await sentinels[0]?.call('sentinel', 'get-master-addr-by-name', PRIMARY)) as string[];
    const server = servers.find(({ port }) => String(port) === named[1]);
    if (!server) throw new Error('the sentinels name a server that was not started');
    return server;
  };
  const synced = async (count: number) => {
    const isSynced = async () => (await connectedReplicas(await primary(), account)) === count;
    await pollUntil('replicas in sync', isSynced, { timeoutMs: READY_MS });
  };
  await synced(replicas);
  await pollUntil('sentinels that know all servers', () => allKnow(sentinels, replicas), {
    timeoutMs: READY_MS,
  });
  return {
    url: (count) => sentinelURL(sentinels, count),
    servers,
    sentinels,
    primary,
    synced,
    stop: async () => {
      await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
      await Promise.all(followers.map((server) => server.stop()));
    },
  };
}

/** The URL of the run store that these sentinels know. */
export function sentinelURL(
  sentinels: readonly Pick<TestSentinel, 'port'>[],
  replicas: number,
  primary: string = PRIMARY,
): string {
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `redis+sentinel://${hosts}/${primary}?replicas=${replicas}`;
}

/** The line of a sentinel's configuration for a primary; two sentinels have to agree on a failover. */
export function monitorOf(port: number, account?: Account): string {
  const login = account
    ? [
        `sentinel auth-user ${PRIMARY} ${account.username}`,
        `sentinel auth-pass ${PRIMARY} ${account.password}`,
      ]
    : [];
  return [
    `sentinel monitor ${PRIMARY} 127.0.0.1 ${port} 2`,
    `sentinel down-after-milliseconds ${PRIMARY} 1000`,
    `sentinel failover-timeout ${PRIMARY} 6000`,
    ...login,
  ].join('\n');
}

/** Starts a sentinel with these lines of configuration. */
export async function startSentinel(lines: readonly string[]): Promise<TestSentinel> {
  const { path: folder, remove } = await makeFolder('sentinel');
  const port = await freePort();
  const config = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, `logfile ${join(folder, 'redis.log')}`];
  await writeFile(join(folder, 'redis.conf'), [...config, ...lines, ''].join('\n'));
  const child = await launch({ folder, seen: folder, at: port, env: {}, args: ['--sentinel'] });
  return {
    port,
    call: (...command) => callServer(port, command),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      await end(child);
      remove();
    },
  };
}

/** Runs one command of a server or sentinel by a connection of its own. */
export async function callServer(
  port: number,
  [name = '', ...args]: readonly string[],
  account?: Account,
  address = '127.0.0.1',
): Promise<unknown> {
  const conn = connectRunStore({ url: `redis://${address}:${port}`, ...account, name: 'once' });
  try {
    await conn.ready(AbortSignal.timeout(1_000));
    return await conn.command(name, ...args);
  } finally {
    await conn.close();
  }
}

async function connectedReplicas({ port }: TestRedis, account: Account | undefined): Promise<number> {
  const text = String(await callServer(port, ['info', 'replication'], account));
  return text.match(/^slave\d+:.*state=online/gm)?.length ?? 0;
}

async function allKnow(sentinels: readonly TestSentinel[], replicas: number): Promise<boolean> {
  const counts = await Promise.all(
    sentinels.map(async ({ call }) => {
      const [servers, others] = await Promise.all(
        ['replicas', 'sentinels'].map(async (kind) => (await call('sentinel', kind, PRIMARY)) as unknown[]),
      );
      return servers?.length === replicas && others?.length === SENTINELS - 1;
    }),
  );
  return counts.every(Boolean);
}
