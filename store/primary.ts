/** The connections to one server that takes writes: for calls, for barriers and for subscriptions. */
import type { Redis } from 'ioredis';
import { urlOf, type ServerAddress } from '../api/runStoreURL.ts';
import { createBarrier, NO_BARRIER, type Barrier, type BarrierOptions } from './barrier.ts';
import { watchPrimary } from './primaryWatch.ts';
import {
  closeRedis,
  isUp,
  openRedis,
  placeOf,
  replicasOf,
  untilReady,
  watchFailovers,
  type RunStoreOptions,
} from './redis.ts';
import { createReplicas, NO_REPLICAS, replicasIn, type Replicas, type ServerCalls } from './replicas.ts';
import { createSender, type Sender } from './sender.ts';
import { createStateLog } from './stateLog.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

/** Of a primary of a Redis Cluster. */
export type Membership = {
  /** How many replicas have to confirm. */
  confirming: number;
  /** Its replicas, as the cluster names them. */
  replicas: () => readonly ServerAddress[];
  /** Called where the server may no longer be the primary of all slots that it had. */
  onDoubt: () => void;
};

export type PrimaryConnection = ServerCalls & {
  isUp: () => boolean;
  /** See `RunStoreConnection`, here and below. */
  ready: (signal?: AbortSignal) => Promise<void>;
  script: Sender['script'];
  replicated: Barrier['replicated'];
  onFailover: (listener: () => void) => { end(): void };
  eachReplica: Replicas['each'];
  subscriber: () => Subscriber;
  close: () => Promise<void>;
};

/**
 * Connects in the background, and reconnects for ever. Until then every call throws `Unanswered`. `member`:
 * of the server of the URL, where it belongs to a Redis Cluster.
 */
export function connectPrimary(options: RunStoreOptions, member?: Membership): PrimaryConnection {
  const { log, maySend } = options;
  const redis = openRedis(options);
  let events: Redis | undefined;
  let barriers: Redis | undefined;
  let subscriber: Subscriber | undefined;
  const primary = watchPrimary(options, () =>
    [redis, events, barriers].filter((client) => client !== undefined),
  );
  const onDoubt = member?.onDoubt ?? primary.ask;
  const { command, script } = createSender(redis, { log, maySend, onDoubt, isMember: member !== undefined });
  const barrier = openBarrier(redis, member?.confirming ?? replicasOf(options), {
    open: () => (barriers = openRedis({ ...options, name: `${options.name}-barrier` })),
    read: (key) => command('get', [key]),
    onUnconfirmed: onDoubt,
    isMember: member !== undefined,
    log,
  });
  const replicas = openReplicas(options, member, async () =>
    replicasIn(String(await command('info', ['replication']))),
  );
  const stopWatching = watchState(redis, options);
  if (member) redis.on('close', member.onDoubt);
  const failoverListeners = new Set<() => void>();
  watchFailovers(redis, () => failoverListeners.forEach((listener) => listener()));
  return {
    isUp: () => isUp(redis),
    ready: (signal) => untilReady(redis, signal),
    command: (name, ...args) => command(name, args),
    script,
    replicated: barrier.replicated,
    onFailover: (listener) => {
      failoverListeners.add(listener);
      return { end: () => void failoverListeners.delete(listener) };
    },
    eachReplica: replicas.each,
    subscriber: () => {
      events ??= openRedis({ ...options, name: `${options.name}-events` });
      return (subscriber ??= createSubscriber(events, member && { onDoubt }));
    },
    close: async () => {
      stopWatching();
      primary.close();
      await Promise.all([subscriber?.close(), barrier.close(), replicas.close(), closeRedis(redis)]);
    },
  };
}

/** The barrier of the connection; none where no replica has to confirm. */
function openBarrier(
  main: Redis,
  replicas: number,
  calls: Pick<BarrierOptions, 'open' | 'read' | 'onUnconfirmed' | 'isMember' | 'log'>,
): Barrier {
  return replicas === 0 ? NO_BARRIER : createBarrier({ ...calls, main, replicas });
}

/** The replicas: as the cluster names them, or else as the primary does. None of a single server. */
function openReplicas(
  options: RunStoreOptions,
  member: Membership | undefined,
  named: () => Promise<readonly ServerAddress[]>,
): Replicas {
  const { topology, isTLS } = placeOf(options.url);
  if (topology === 'single' && !member) return NO_REPLICAS;
  const open = (address: ServerAddress) => openRedis({ ...options, url: urlOf(address, isTLS) });
  const addresses = member ? () => Promise.resolve(member.replicas()) : named;
  return createReplicas({ addresses, open, log: options.log, maySend: options.maySend });
}

/** A connection that we close is not logged as lost. Returns a function that ends the watch. */
function watchState(redis: Redis, { log, onStateChange }: RunStoreOptions): () => void {
  const state = createStateLog(log, { well: 'run store: connected', unwell: 'run store: connection lost' });
  let healthy = false;
  const become = (now: boolean) => {
    if (now === healthy) return;
    healthy = now;
    state.become(now);
    onStateChange?.(now);
  };
  redis.on('ready', () => become(true));
  redis.on('close', () => become(false));
  return state.close;
}
