/**
 * A connection to the run store. It never sends a call twice or queues one during an outage, and each call is
 * answered within two seconds, also when the server is frozen; only a call whose answer comes slowly may take
 * longer. A call that failed answers `Unavailable`.
 */
import { unavailableFor, type Unavailable } from './callErrors.ts';
import { connectCluster } from './cluster.ts';
import { connectPrimary } from './primary.ts';
import { placeOf, type RunStoreOptions } from './redis.ts';
import type { Primary, RunStoreConnection } from './runStoreConnection.ts';

export type { Unavailable } from './callErrors.ts';
export type { RunStoreConnection } from './runStoreConnection.ts';

/** Connects in the background, and reconnects for ever. Until then every call answers `unavailable`. */
export function connectRunStore(options: RunStoreOptions): RunStoreConnection {
  const place = placeOf(options.url);
  return place.topology === 'cluster' ? connectCluster(options, place) : connectOne(options);
}

/** With one server that takes writes: all projects are there. */
function connectOne(options: RunStoreOptions): RunStoreConnection {
  const { isUp, onFailover, ...server } = connectPrimary(options);
  const primary: Primary = { name: '', command: server.command, eachReplica: server.eachReplica };
  return {
    ...server,
    healthy: isUp,
    onFailover: (_project, listener) => onFailover(listener),
    serverOf: () => primary,
    primaries: () => Promise.resolve([primary]),
    primaryOf: () => primary.name,
    together: (projects) => (projects.length === 0 ? [] : [[...projects]]),
  };
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
