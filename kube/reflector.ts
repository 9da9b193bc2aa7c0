/**
 * List-watch of a kind that recovers from every failure and keeps the last state meanwhile. A change is seen
 * within 30 s even if a connection goes silent without being closed, because no watch lasts longer
 * (docs/decisions/0004-short-watches.md).
 */
import { backoffDelay, jittered, type Backoff } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { ApiError, isGone, isTooManyRequests } from './errors.ts';
import type { Log } from './log.ts';
import type { KubeObject, Resource } from './resource.ts';
import { watchStalled, type WatchEvent } from './watch.ts';
import { createWatchRounds } from './watchRounds.ts';

/** How one list or watch ended, for metrics. */
export type ReflectorOutcome = 'listed' | 'ended' | 'stalled' | 'gone' | 'failed';

export type ReflectorOptions<T extends KubeObject> = {
  client: Pick<KubeClient, 'listAll' | 'watch'>;
  resource: Resource<T>;
  /** All namespaces when left out. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** The whole state. `startedAt`: the time of the clock before the list was requested. */
  onList: (items: T[], startedAt: number) => void;
  /** One change, in the order of the server; called synchronously. */
  onChange: (type: ChangeType, object: T) => void;
  /**
   * The server has confirmed that the state is complete: a list, an event, a bookmark or the regular end of a
   * watch.
   */
  onProof?: () => void;
  onOutcome?: (outcome: ReflectorOutcome) => void;
  /** Returns the whole seconds that the next watch lasts; default: 18 to 23, by itself. */
  watchSeconds?: () => number;
  log: Log;
  clock?: Clock;
  random?: () => number;
};

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * A watch that ends sooner counts as a failure, so that a broken proxy does not cause a storm of requests.
 */
const shortestWatchMs = 5_000;
const backoff: Backoff = { initialMs: 500, factor: 2, maxMs: 30_000, jitter: 0.5 };
/**
 * After so many consecutive failures the resourceVersion is dropped (etcd may have been restored from a
 * backup).
 */
const failuresBeforeRelist = 3;
/** How often a working state is listed again, as a precaution. */
const relistAfterMs = 1_800_000;
/**
 * After so many consecutive older lists the state is accepted: a lagging server catches up, but one whose
 * etcd was restored from a backup never does.
 */
const oldListsBeforeBelief = 5;

/** Follows a kind until the signal is aborted, then resolves. It never rejects. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock, random = Math.random } = options;
  const { watchSeconds = createWatchRounds(clock, random) } = options;
  const state: State = { resourceVersion: undefined, failures: 0, relistAt: 0, newest: '', oldLists: 0 };
  while (!signal.aborted) {
    const startedAt = clock.now();
    try {
      if (state.resourceVersion === undefined) await listInto(state, options, signal);
      else {
        const watch = { resourceVersion: state.resourceVersion, timeoutSeconds: watchSeconds() };
        await watchInto(state, watch, options, signal);
      }
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
  /** The newest observed version. */
  newest: string;
  /** Consecutive lists that were older. */
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
    // The loop below retries.
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
  watch: { resourceVersion: string; timeoutSeconds: number },
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock = systemClock } = options;
  const startedAt = clock.now();
  const request = { ...selection(options), ...watch };
  for await (const event of options.client.watch(options.resource, request, signal)) {
    if (signal.aborted) return;
    state.resourceVersion = take(event, options) ?? state.resourceVersion;
    note(state, state.resourceVersion);
    state.failures = 0;
    options.onProof?.();
  }
  if (signal.aborted) return;
  if (clock.now() - startedAt < Math.min(shortestWatchMs, watch.timeoutSeconds * 500))
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
 * Whether a version is older. Versions of Kubernetes are decimal numbers and comparable (KEP-5504); others
 * never count as older.
 */
function isOlder(version: string | undefined, than: string): boolean {
  if (!/^\d+$/.test(version ?? '') || !/^\d+$/.test(than)) return false;
  return BigInt(version ?? '') < BigInt(than);
}

/** Emits an event and returns the resourceVersion where the next watch continues. */
function take<T extends KubeObject>(event: WatchEvent<T>, options: ReflectorOptions<T>): string | undefined {
  if (event.type === 'BOOKMARK') return event.resourceVersion === '' ? undefined : event.resourceVersion;
  guarded(options, () => options.onChange(event.type, event.object));
  return event.object.metadata.resourceVersion;
}

/** Decides where to continue after a failure. Returns the delay in milliseconds. */
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
 * So many consecutive requests to wait are expected, for example while the server starts or a new kind is
 * registered.
 */
const PASSING = 4;

/** Expired versions are expected. Of other consecutive failures, the 1st, 2nd, 4th, 8th … are logged. */
function report<T extends KubeObject>(
  failures: number,
  gone: boolean,
  error: unknown,
  options: ReflectorOptions<T>,
): void {
  const { log, resource } = options;
  // For an answer of the server, its message is enough; a stack trace does not help.
  const why = error instanceof ApiError && error.status > 0 ? { error: error.message } : { err: error };
  const fields = { resource: resource.plural, failures, ...why };
  if (gone) log.debug(fields, 'watch expired, relisting');
  else if (!Number.isInteger(Math.log2(failures))) return;
  else if (isTooManyRequests(error) && failures < PASSING)
    log.info(fields, 'API server asked to wait, retrying');
  else log.warn(fields, 'list or watch failed, retrying');
}

/**
 * Whether the server refuses the resourceVersion with a status other than 410: 400 if it is malformed, 504 if
 * it is in its future.
 */
function needsList(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 504);
}

/** The error of an outdated list, which would undo known changes until a watch delivers them again. */
function oldList(resource: Resource): ApiError {
  const message = `The list of ${resource.plural} is older than what was seen before`;
  return new ApiError({ status: 0, reason: 'OldList', message });
}

function endedEarly(resource: Resource): ApiError {
  const message = `The watch of ${resource.plural} ended at once`;
  return new ApiError({ status: 0, reason: 'WatchEndedEarly', message });
}

/** An error of a handler for one object must not stop the list-watch. */
function guarded<T extends KubeObject>(options: ReflectorOptions<T>, handle: () => void): void {
  try {
    handle();
  } catch (error) {
    options.log.error({ resource: options.resource.plural, err: error }, 'change handler failed');
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
