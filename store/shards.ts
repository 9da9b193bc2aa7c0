/** The primaries of a Redis Cluster, each with connections of its own, opened when they are first used. */
import { nameOf, urlOf, type ServerAddress } from '../api/runStoreURL.ts';
import type { Log } from '../kube/log.ts';
import { afterRunning } from './runningTime.ts';
import { ownersOf, type SlotRange } from './clusterSlots.ts';
import type { ClusterPlace } from './clusterWatch.ts';
import { connectPrimary, type PrimaryConnection } from './primary.ts';
import type { RunStoreOptions } from './redis.ts';

export type Shard = PrimaryConnection & {
  name: string;
  address: ServerAddress;
  /** Its first connection is being made: a call waits for it, and has not been sent. */
  isOpening: () => boolean;
  /** Resolves when that is over, after a second at the latest. */
  opened: Promise<void>;
};

export type Shards = {
  /** The primary that has the slot; undefined where none is known. */
  at: (slot: number) => Shard | undefined;
  /** Its name, which does not open it. */
  nameAt: (slot: number) => string | undefined;
  /** Whether a primary is known. */
  isKnown: () => boolean;
  /** Those that are in use. */
  open: () => readonly Shard[];
  /** All primaries, in the order of their names, which opens them. */
  all: () => readonly Shard[];
  /** Takes over who has which slots, and leaves servers that have none. */
  update: (ranges: readonly SlotRange[]) => void;
  close: () => Promise<void>;
};

/** For the first connection to a primary. */
const OPENING_MS = 1_000;

export function createShards(options: RunStoreOptions, place: ClusterPlace, onDoubt: () => void): Shards {
  const open = new Map<string, Shard>();
  let owners: (string | undefined)[] = [];
  let primaries = new Map<string, readonly SlotRange[]>();

  const replicasOf = (name: string): ServerAddress[] => {
    const replicas = (primaries.get(name) ?? []).flatMap((range) => range.replicas);
    return [...new Map(replicas.map((address) => [nameOf(address), address])).values()];
  };
  const shardOf = (name: string): Shard | undefined => {
    const known = open.get(name);
    const address = primaries.get(name)?.[0]?.primary;
    if (known || !address) return known;
    const membership = { confirming: place.replicas, replicas: () => replicasOf(name), onDoubt };
    const log = options.log && logOf(options.log, name);
    const url = urlOf(address, place.isTLS);
    const server = connectPrimary({ ...options, url, ...(log && { log }) }, membership);
    const shard = { ...server, name, address, ...openingOf(server) };
    open.set(name, shard);
    return shard;
  };
  const leave = (names: readonly string[]): Promise<unknown> => {
    const left = names.flatMap((name) => open.get(name) ?? []);
    for (const name of names) open.delete(name);
    return Promise.all(left.map((shard) => shard.close()));
  };
  return {
    at: (slot) => {
      const name = owners[slot];
      return name === undefined ? undefined : shardOf(name);
    },
    nameAt: (slot) => owners[slot],
    isKnown: () => primaries.size > 0,
    open: () => [...open.values()],
    all: () => [...primaries.keys()].toSorted().flatMap((name) => shardOf(name) ?? []),
    update: (ranges) => {
      owners = ownersOf(ranges);
      primaries = Map.groupBy(ranges, ({ primary }) => nameOf(primary));
      void leave([...open.keys()].filter((name) => !primaries.has(name)));
    },
    close: async () => {
      // No later call opens one.
      owners = [];
      primaries = new Map();
      await leave([...open.keys()]);
    },
  };
}

function openingOf({ ready }: PrimaryConnection): Pick<Shard, 'isOpening' | 'opened'> {
  let isOpening = true;
  const open = async (): Promise<void> => {
    const over = new AbortController();
    const cancel = afterRunning(OPENING_MS, () => over.abort());
    await ready(over.signal).catch(() => undefined);
    cancel();
    isOpening = false;
  };
  return { isOpening: () => isOpening, opened: open() };
}

/** A log whose lines name the server. */
function logOf(log: Log, server: string): Log {
  return {
    debug: (fields, message) => log.debug({ ...fields, server }, message),
    info: (fields, message) => log.info({ ...fields, server }, message),
    warn: (fields, message) => log.warn({ ...fields, server }, message),
    error: (fields, message) => log.error({ ...fields, server }, message),
  };
}
