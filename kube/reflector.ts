/**
 * List, then watch, for ever: whatever breaks, the state of a kind is followed again, and nothing is
 * forgotten while it is not. A change is seen within 30 s even if a connection goes silent without being
 * closed: no watch lasts longer than that (docs/decisions/0004-short-watches.md).
 */
import { backoffDelay, jittered, type Backoff } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { ApiError, isGone, isTooManyRequests } from './errors.ts';
import type { Log } from './log.ts';
import type { KubeObject, Resource } from './resource.ts';
import { watchStalled, type WatchEvent } from './watch.ts';

/** How one round ended; counted by whoever wants to know. */
export type ReflectorOutcome = 'listed' | 'ended' | 'stalled' | 'gone' | 'failed';

export type ReflectorOptions<T extends KubeObject> = {
  client: Pick<KubeClient, 'listAll' | 'watch'>;
  resource: Resource<T>;
  /** All namespaces when left out. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** The whole state. `startedAt` is the clock's time before the list was asked for. */
  onList: (items: T[], startedAt: number) => void;
  /** One change, in the order of the server; called synchronously. */
  onChange: (type: ChangeType, object: T) => void;
  /**
   * The server has shown that nothing is missing: a list, an event, a bookmark, the regular end of a watch.
   */
  onProof?: () => void;
  onOutcome?: (outcome: ReflectorOutcome) => void;
  /** Whole seconds that one watch lasts, random between the two; default 18 to 23. */
  watchSeconds?: { least: number; most: number };
  log: Log;
  clock?: Clock;
  random?: () => number;
};

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * With the client's grace of 3 s a watch stays well under 30 s, and so does the time that a silent one
 * deceives us.
 */
const defaultWatchSeconds = { least: 18, most: 23 };
/** A watch that ends sooner is a fault, however politely: a broken proxy must not make us a storm. */
const shortestWatchMs = 5_000;
const backoff: Backoff = { initialMs: 500, factor: 2, maxMs: 30_000, jitter: 0.5 };
/** After so many failures in a row the resourceVersion itself is suspected (etcd restored from a backup). */
const failuresBeforeRelist = 3;
/** Even a state that looks followed is listed again now and then, against whatever we did not think of. */
const relistAfterMs = 1_800_000;
/**
 * A server that lags behind catches up; one whose etcd was restored from a backup never does, and then what
 * it says is so.
 */
const oldListsBeforeBelief = 5;

/** Follows a kind until the signal is aborted, then resolves. It never rejects. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock, random = Math.random } = options;
  const state: State = { resourceVersion: undefined, failures: 0, relistAt: 0, newest: '', oldLists: 0 };
  while (!signal.aborted) {
    const startedAt = clock.now();
    try {
      if (state.resourceVersion === undefined) await listInto(state, options, signal);
      else await watchInto(state, state.resourceVersion, options, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (clock.now() - startedAt >= shortestWatchMs) state.failures = 0;
      await sleep(recover(state, error, options, random), signal, clock);
    }
  }
}

type State = {
  /** Undefined: list. Opaque otherwise. */
  resourceVersion: string | undefined;
  failures: number;
  relistAt: number;
  /** The newest version that was seen. */
  newest: string;
  /** Lists in a row that were older than that. */
  oldLists: number;
};

async function listInto<T extends KubeObject>(
  state: State,
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock, random = Math.random } = options;
  const startedAt = clock.now();
  const { metadata, items } = await options.client.listAll(options.resource, {
    ...selection(options),
    signal,
    // The loop below has the patience.
    retries: 1,
  });
  if (signal.aborted) return;
  if (isOlder(metadata.resourceVersion, state.newest)) {
    state.oldLists += 1;
    if (state.oldLists < oldListsBeforeBelief) throw oldList(options.resource);
    state.newest = '';
  }
  state.oldLists = 0;
  guarded(options, () => options.onList(items, startedAt));
  state.resourceVersion = metadata.resourceVersion;
  note(state, metadata.resourceVersion);
  state.relistAt = startedAt + jittered(relistAfterMs, 0.2, random);
  options.onProof?.();
  options.onOutcome?.('listed');
}

async function watchInto<T extends KubeObject>(
  state: State,
  resourceVersion: string,
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock, random = Math.random, watchSeconds = defaultWatchSeconds } = options;
  const startedAt = clock.now();
  const { least, most } = watchSeconds;
  const timeoutSeconds = least + Math.floor(random() * (most - least + 1));
  const request = { ...selection(options), resourceVersion, timeoutSeconds };
  for await (const event of options.client.watch(options.resource, request, signal)) {
    if (signal.aborted) return;
    state.resourceVersion = take(event, options) ?? state.resourceVersion;
    note(state, state.resourceVersion);
    state.failures = 0;
    options.onProof?.();
  }
  if (signal.aborted) return;
  if (clock.now() - startedAt < Math.min(shortestWatchMs, timeoutSeconds * 500))
    throw endedEarly(options.resource);
  state.failures = 0;
  if (clock.now() >= state.relistAt) state.resourceVersion = undefined;
  options.onProof?.();
  options.onOutcome?.('ended');
}

function note(state: State, version: string | undefined): void {
  if (version !== undefined && !isOlder(version, state.newest)) state.newest = version;
}

/**
 * Versions can be compared where they are decimal numbers, as those of Kubernetes are (KEP-5504); others are
 * never older.
 */
function isOlder(version: string | undefined, than: string): boolean {
  if (!/^\d+$/.test(version ?? '') || !/^\d+$/.test(than)) return false;
  return BigInt(version ?? '') < BigInt(than);
}

/** Hands an event on and returns the resourceVersion from which a next watch goes on. */
function take<T extends KubeObject>(event: WatchEvent<T>, options: ReflectorOptions<T>): string | undefined {
  if (event.type === 'BOOKMARK') return event.resourceVersion === '' ? undefined : event.resourceVersion;
  guarded(options, () => options.onChange(event.type, event.object));
  return event.object.metadata.resourceVersion;
}

/** Decides where to go on after a failure, and returns how long to wait before, in milliseconds. */
function recover<T extends KubeObject>(
  state: State,
  error: unknown,
  options: ReflectorOptions<T>,
  random: () => number,
): number {
  if (error instanceof ApiError && error.reason === watchStalled) {
    options.onOutcome?.('stalled');
    options.log.warn({ resource: options.resource.plural }, 'watch went silent, reconnecting');
    return 0;
  }
  state.failures += 1;
  const gone = isGone(error);
  options.onOutcome?.(gone ? 'gone' : 'failed');
  if (gone || needsList(error) || state.failures >= failuresBeforeRelist) state.resourceVersion = undefined;
  const own = backoffDelay(backoff, state.failures, random);
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  report(state.failures, gone, error, options);
  return Math.min(Math.max(own, asked), backoff.maxMs);
}

/**
 * So many answers in a row that ask to wait are passing, as while the server starts, or while a new kind is
 * made known to it.
 */
const PASSING = 4;

/** An expired version is everyday life; of other failures in a row the 1st, 2nd, 4th, 8th … are logged. */
function report<T extends KubeObject>(
  failures: number,
  gone: boolean,
  error: unknown,
  options: ReflectorOptions<T>,
): void {
  const { log, resource } = options;
  // What the server answered is told by its own words, not by where we read them.
  const why = error instanceof ApiError && error.status > 0 ? { error: error.message } : { err: error };
  const fields = { resource: resource.plural, failures, ...why };
  if (gone) log.debug(fields, 'watch expired, listing again');
  else if (!Number.isInteger(Math.log2(failures))) return;
  else if (isTooManyRequests(error) && failures < PASSING)
    log.info(fields, 'API server asked to wait, trying again');
  else log.warn(fields, 'list or watch failed, trying again');
}

/**
 * A refusal of the version that we hold, other than 410: 400 if it is malformed, 504 if it lies in the
 * server's future.
 */
function needsList(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 504);
}

/** It would take back what is known already, until a watch brought it again. */
function oldList(resource: Resource): ApiError {
  const message = `The list of ${resource.plural} is older than what was seen before`;
  return new ApiError({ status: 0, reason: 'OldList', message });
}

function endedEarly(resource: Resource): ApiError {
  const message = `The watch of ${resource.plural} ended at once`;
  return new ApiError({ status: 0, reason: 'WatchEndedEarly', message });
}

/** Our own code failing on one object must not stop the others from being followed. */
function guarded<T extends KubeObject>(options: ReflectorOptions<T>, handle: () => void): void {
  try {
    handle();
  } catch (error) {
    options.log.error({ resource: options.resource.plural, err: error }, 'handler of a change failed');
  }
}

function selection<T extends KubeObject>(
  options: ReflectorOptions<T>,
): { namespace?: string; labelSelector?: string; fieldSelector?: string } {
  const { namespace, labelSelector, fieldSelector } = options;
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  };
}
