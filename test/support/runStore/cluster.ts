/**
 * A Redis Cluster of real servers: primaries that share all slots evenly, each with its replicas. A replica
 * is promoted within some seconds. Nothing is left when it is stopped.
 */
import { join } from 'node:path';
import type { Host } from '../network/hosts.ts';
import { freePort } from '../process/freePort.ts';
import { pollUntil } from '../time/poll.ts';
import { startRedis, type RedisOptions, type TestRedis } from './redis.ts';
import { callServer, replicationConfig, type Account } from './sentinel.ts';

const SLOTS = 16_384;
const READY = { timeoutMs: 30_000, everyMs: 50 };
/** After this time without an answer a primary counts as failed. */
const NODE_TIMEOUT_MS = 1_500;

export type ClusterMember = TestRedis & {
  /** At which the others reach it. Its own choice, 10,000 above its port, may be in use. */
  busPort: number;
  /** At which it answers with TLS, where it does. */
  tlsPort?: number;
  /** Runs a command of it. */
  call: (...command: string[]) => Promise<unknown>;
};

export type TestCluster = {
  /** For programs, with the number of replicas of each primary that have to confirm. */
  url(replicas: number): string;
  servers: readonly ClusterMember[];
  /** The server that has the slot now, as most servers see it. */
  primaryOf(slot: number): Promise<ClusterMember>;
  /** The replicas that copy this primary; first the one that has most of its data. */
  replicasOf(primary: ClusterMember): Promise<ClusterMember[]>;
  /** Waits until the cluster has all slots and each primary has this many replicas in sync. */
  settled(replicas: number, timeoutMs?: number): Promise<void>;
  /** Makes a server that was replaced a replica of the primary that has the slot. */
  rejoin(server: ClusterMember, slot: number): Promise<void>;
  stop(): Promise<void>;
};

type ClusterOptions = RedisOptions & {
  /** Default: 3. */
  primaries?: number;
  /** Of each primary; default: 1. */
  replicas?: number;
  /** By which replicas and the helpers log in; left out: `default`. */
  account?: Account;
  /**
   * The folder of tls.crt, tls.key and ca.crt: servers speak TLS with each other, and with programs at ports
   * of their own. The helpers use ports without.
   */
  tlsFiles?: string;
  /** Where the servers run, one after the other, instead of on 127.0.0.1: as many as servers. */
  hosts?: readonly Host[];
};

/** Starts the servers and waits until they agree on who has which slots. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const { primaries: count = 3, replicas = 1 } = options;
  const servers = await Promise.all(
    Array.from({ length: count * (1 + replicas) }, (_, index) => {
      const host = options.hosts?.[index];
      return startMember({ ...options, ...(host && { host }) });
    }),
  );
  const primaries = servers.slice(0, count);
  await Promise.all(
    servers.map((server, index) => server.call('cluster', 'set-config-epoch', String(index + 1))),
  );
  await Promise.all(primaries.map((server, index) => server.call(...slotsOf(index, count))));
  await meet(servers);
  const followers = servers.slice(count).map(async (server, index) => {
    const id = await primaries[index % count]?.call('cluster', 'myid');
    await server.call('cluster', 'replicate', String(id));
  });
  await Promise.all(followers);
  const cluster: TestCluster = {
    url: (confirming) => clusterURL(servers, confirming),
    servers,
    primaryOf: (slot) => primaryOf(servers, slot),
    replicasOf: (primary) => replicasOf(servers, primary),
    settled: async (each, timeoutMs = READY.timeoutMs) => {
      const isSettledNow = () => isSettled(servers, { count, each });
      await pollUntil('a settled cluster', isSettledNow, { ...READY, timeoutMs });
    },
    rejoin: (server, slot) => rejoin(servers, server, slot),
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
  await cluster.settled(replicas);
  return cluster;
}

/** The URL of the cluster that these servers belong to. */
export function clusterURL(
  servers: readonly (Pick<TestRedis, 'address' | 'port'> & { tlsPort?: number })[],
  replicas: number,
): string {
  const hosts = servers.map(({ address, port, tlsPort = port }) => `${address}:${tlsPort}`).join(',');
  const isTLS = servers.some(({ tlsPort }) => tlsPort !== undefined);
  return `${isTLS ? 'rediss' : 'redis'}+cluster://${hosts}?replicas=${replicas}`;
}

/** Starts a server that belongs to no other yet. */
export async function startMember(options: ClusterOptions = {}): Promise<ClusterMember> {
  const { account, config = [], tlsFiles } = options;
  const busPort = await freePort();
  const tlsPort = tlsFiles === undefined ? undefined : await freePort();
  const server = await startRedis({
    ...options,
    config: [
      ...replicationConfig([], account),
      'cluster-enabled yes',
      `cluster-port ${busPort}`,
      `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
      // Projects of other slots go on.
      'cluster-require-full-coverage no',
      'cluster-allow-replica-migration no',
      ...(tlsFiles === undefined ? [] : tlsSettings(tlsFiles, tlsPort)),
      ...config,
    ],
  });
  return {
    ...server,
    busPort,
    ...(tlsPort && { tlsPort }),
    call: (...command) => callServer(server.port, command, account, server.address),
  };
}

function tlsSettings(files: string, port: number | undefined): string[] {
  return [
    `tls-port ${port}`,
    `tls-cert-file ${join(files, 'tls.crt')}`,
    `tls-key-file ${join(files, 'tls.key')}`,
    `tls-ca-cert-file ${join(files, 'ca.crt')}`,
    'tls-auth-clients no',
    'tls-cluster yes',
    'tls-replication yes',
  ];
}

/** The command that gives a primary its share of all slots. */
function slotsOf(index: number, count: number): string[] {
  const first = Math.ceil((SLOTS * index) / count);
  const last = Math.ceil((SLOTS * (index + 1)) / count) - 1;
  return ['cluster', 'addslotsrange', String(first), String(last)];
}

async function meet(servers: readonly ClusterMember[]): Promise<void> {
  const [first, ...others] = servers;
  for (const { address, port, busPort } of others)
    await first?.call('cluster', 'meet', address, String(port), String(busPort));
  const know = async ({ call }: ClusterMember) =>
    String(await call('cluster', 'info')).includes(`cluster_known_nodes:${servers.length}`);
  await pollUntil('servers that know each other', () => every(servers, know), READY);
}

async function replicasOf(
  servers: readonly ClusterMember[],
  { address, port }: ClusterMember,
): Promise<ClusterMember[]> {
  const found: { server: ClusterMember; offset: number }[] = [];
  for (const server of servers) {
    const text = String(await server.call('info', 'replication').catch(() => ''));
    if (!text.includes(`master_host:${address}\r\nmaster_port:${port}\r\n`)) continue;
    found.push({ server, offset: Number(/^slave_repl_offset:(\d+)/m.exec(text)?.[1]) });
  }
  return found.toSorted((one, other) => other.offset - one.offset).map(({ server }) => server);
}

/** The others forget the server that it was. */
async function rejoin(servers: readonly ClusterMember[], server: ClusterMember, slot: number): Promise<void> {
  const primary = await primaryOf(servers, slot);
  const { address, port, busPort } = primary;
  await server.call('cluster', 'meet', address, String(port), String(busPort));
  const id = String(await primary.call('cluster', 'myid'));
  const knows = async () => String(await server.call('cluster', 'nodes')).includes(id);
  await pollUntil('a server that knows its primary', knows, READY);
  await server.call('cluster', 'replicate', id);
  for (const { call } of servers) {
    const nodes = String(await call('cluster', 'nodes')).split('\n');
    const gone = nodes.filter((line) => / \S*(fail|noaddr)\S* /.test(line) && !line.includes('myself'));
    for (const line of gone) await call('cluster', 'forget', line.split(' ')[0] ?? '');
  }
}

async function primaryOf(servers: readonly ClusterMember[], slot: number): Promise<ClusterMember> {
  const named = await Promise.all(
    servers.map(async ({ call }) => {
      const slots = (await call('cluster', 'slots').catch(() => [])) as [number, number, [string, number]][];
      return slots.find(([first, last]) => first <= slot && slot <= last)?.[2][1];
    }),
  );
  const votes = (port: number) => named.filter((other) => other === port).length;
  const [first] = servers.toSorted((one, other) => votes(other.port) - votes(one.port));
  if (first === undefined || votes(first.port) === 0) throw new Error(`no server has slot ${slot}`);
  return first;
}

/** Whether all running servers see all slots, and every primary its replicas. */
async function isSettled(
  servers: readonly ClusterMember[],
  { count, each }: { count: number; each: number },
): Promise<boolean> {
  const states = await Promise.all(
    servers.map(async ({ call }) => {
      const [cluster, replication, slots] = await Promise.all([
        call('cluster', 'info'),
        call('info', 'replication'),
        call('cluster', 'slots'),
      ]).catch(() => ['', '', []]);
      const named = JSON.stringify(slots);
      const text = String(replication);
      return {
        isWhole:
          /cluster_state:ok[^]*cluster_slots_ok:16384/.test(String(cluster)) &&
          servers.every(({ port }) => named.includes(`,${port},`)),
        isPrimary: text.includes('role:master'),
        replicas: text.match(/^slave\d+:.*state=online/gm)?.length ?? 0,
      };
    }),
  );
  const primaries = states.filter(({ isPrimary }) => isPrimary);
  return (
    states.every(({ isWhole }) => isWhole) &&
    primaries.length === count &&
    primaries.every(({ replicas }) => replicas === each)
  );
}

async function every<T>(all: readonly T[], is: (one: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(all.map(is))).every(Boolean);
}
