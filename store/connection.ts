/**
 * A connection to the run store. It never sends a call twice or queues one during an outage, and each call is
 * answered within two seconds, also when the server is frozen; only a call whose answer comes slowly may take
 * longer. A call that failed answers `Unavailable`.
 */
import type { Redis } from 'ioredis';
import { urlOf, type ServerAddress } from '../api/runStoreURL.ts';
import { createBarrier, NO_BARRIER, type Barrier, type BarrierOptions } from './barrier.ts';
import { unavailableFor, type Unavailable } from './callErrors.ts';
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
import { createReplicas, NO_REPLICAS, type Replicas } from './replicas.ts';
import type { Script } from './script.ts';
import { createSender } from './sender.ts';
import { createStateLog } from './stateLog.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

export type { Unavailable } from './callErrors.ts';

export type RunStoreConnection = {
  /** Whether a call sent now would be answered, as far as is known. */
  healthy(): boolean;
  /** Resolves when the connection is up; rejects when the signal is aborted before. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** For modules of `store` and `runs`. Throws `Unanswered`, or the server's error. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** For modules of `store` and `runs`. Throws like `command`. */
  script(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** For modules of `store` and `runs`: see `Barrier`. */
  replicated: Barrier['replicated'];
  /**
   * Calls back when the connection has reached another server than before: a replica was promoted, which may
   * have less data.
   */
  onFailover: (listener: () => void) => { end(): void };
  /** For modules of `store`: works with each replica (`replicas.ts`). */
  eachReplica: Replicas['each'];
  /**
   * For modules of `store` and `runs`: the connection for all subscriptions of this process, opened on first
   * use.
   */
  subscriber(): Subscriber;
};

/** Connects in the background, and reconnects for ever. Until then every call answers `unavailable`. */
export function connectRunStore(options: RunStoreOptions): RunStoreConnection {
  const redis = openRedis(options);
  let events: Redis | undefined;
  let barriers: Redis | undefined;
  let subscriber: Subscriber | undefined;
  const primary = watchPrimary(options, () =>
    [redis, events, barriers].filter((client) => client !== undefined),
  );
  const { log, maySend } = options;
  const { command, script } = createSender(redis, { log, maySend, onDoubt: primary.ask });
  const barrier = openBarrier(redis, options, {
    open: () => (barriers = openRedis({ ...options, name: `${options.name}-barrier` })),
    read: (key) => command('get', [key]),
    onUnconfirmed: primary.ask,
  });
  const replicas = openReplicas(options, () => command('info', ['replication']));
  const stopWatching = watchState(redis, options);
  const failoverListeners = new Set<() => void>();
  watchFailovers(redis, () => failoverListeners.forEach((listener) => listener()));
  return {
    healthy: () => isUp(redis),
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
      return (subscriber ??= createSubscriber(events));
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
  options: RunStoreOptions,
  calls: Pick<BarrierOptions, 'open' | 'read' | 'onUnconfirmed'>,
): Barrier {
  const replicas = replicasOf(options);
  return replicas === 0 ? NO_BARRIER : createBarrier({ ...calls, main, replicas, log: options.log });
}

function openReplicas(options: RunStoreOptions, info: () => Promise<unknown>): Replicas {
  const { topology, isTLS } = placeOf(options.url);
  if (topology === 'single') return NO_REPLICAS;
  const open = (address: ServerAddress) => openRedis({ ...options, url: urlOf(address, isTLS) });
  return createReplicas({ info, open, log: options.log, maySend: options.maySend });
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

/** Turns an outage into a value. Throws only for a defect. */
export async function orUnavailable<T>(call: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await call();
  } catch (error) {
    return unavailableFor(error);
  }
}

/** The answer of a call that stores or removes something. */
export type Done = { outcome: 'done' } | Unavailable;

/** The same for calls that answer nothing but their success. */
export function doneOrUnavailable(call: () => Promise<unknown>): Promise<Done> {
  return orUnavailable(async () => {
    await call();
    return { outcome: 'done' };
  });
}

/** Whether a call failed because of an outage. */
export function isUnavailable(value: unknown): value is Unavailable {
  return typeof value === 'object' && value !== null && (value as Unavailable).outcome === 'unavailable';
}
