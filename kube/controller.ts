/**
 * The reconcile loop: keys come from caches, one function looks at the world and acts, and here alone is
 * decided what its outcome means for the key. A failure never ends the loop.
 */
import type { Cache, Change } from './cache.ts';
import { isConflict } from './errors.ts';
import type { Log } from './log.ts';
import type { Queue } from './queue.ts';
import { controllerOf, objectKey, type KubeObject } from './resource.ts';

/** What a reconcile is about. A cluster-wide object has an empty namespace. */
export type Key = { namespace: string; name: string };

export type Action = { kind: 'done' } | { kind: 'after'; ms: number };

/** All is as it should be until something changes. */
export function done(): Action {
  return { kind: 'done' };
}

/** Look again after `ms`, or earlier if something changes. */
export function after(ms: number): Action {
  return { kind: 'after', ms };
}

/** The user must act. The caller has written the condition; the key rests until something changes. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

/** Something that will come is not there yet. The caller has written the condition; again after `ms`. */
export class WaitingError extends Error {
  override readonly name = 'WaitingError';
  readonly ms: number;

  constructor(message: string, ms: number) {
    super(message);
    this.ms = ms;
  }
}

export type Outcome = 'done' | 'after' | 'stalled' | 'waiting' | 'conflict' | 'failed';

export const outcomes: readonly Outcome[] = ['done', 'after', 'stalled', 'waiting', 'conflict', 'failed'];

export type ControllerOptions = {
  name: string;
  queue: Queue;
  reconcile: (key: Key) => Promise<Action>;
  log: Log;
  onOutcome?: (outcome: Outcome, seconds: number) => void;
  signal: AbortSignal;
};

/** Works on the queue until the signal is aborted; resolves when the last reconcile has ended. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { queue, signal } = options;
  if (signal.aborted) return;
  const stalled = new Map<string, string>();
  queue.start((key) => reconcileKey(options, stalled, key));
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await queue.drain();
}

/** Why each key stalled that has not gone on since: a state is told once, however often it is looked at. */
type Stalled = Map<string, string>;

async function reconcileKey(options: ControllerOptions, stalled: Stalled, key: string): Promise<void> {
  const { queue, reconcile } = options;
  const startedAt = performance.now();
  let outcome: Outcome;
  try {
    const action = await reconcile(parseKey(key));
    outcome = action.kind;
    queue.forget(key);
    stalled.delete(key);
    if (action.kind === 'after') queue.addAfter(key, action.ms);
  } catch (error) {
    outcome = settleFailure(options, stalled, key, error);
  }
  options.onOutcome?.(outcome, (performance.now() - startedAt) / 1_000);
}

function settleFailure(options: ControllerOptions, stalled: Stalled, key: string, error: unknown): Outcome {
  const { queue, log, name } = options;
  const fields = { controller: name, key };
  if (error instanceof StalledError) {
    queue.forget(key);
    if (stalled.get(key) !== error.message)
      log.info({ ...fields, reason: error.message }, 'reconcile stalled until the user acts');
    stalled.set(key, error.message);
    return 'stalled';
  }
  if (error instanceof WaitingError) {
    queue.forget(key);
    queue.addAfter(key, error.ms);
    log.debug({ ...fields, reason: error.message, ms: error.ms }, 'reconcile waits');
    return 'waiting';
  }
  const delayMs = Math.round(queue.retry(key));
  if (isConflict(error)) {
    log.debug({ ...fields, delayMs }, 'reconcile met another writer');
    return 'conflict';
  }
  log.warn({ ...fields, delayMs, err: error }, 'reconcile failed');
  return 'failed';
}

/** Puts the keys that a change is about into the queue, for all that is in the cache and all that comes. */
export function watchInto<T extends KubeObject>(
  cache: Cache<T>,
  queue: Queue,
  map: (object: T, change: Change<T>) => readonly Key[] = (object) => [keyOf(object)],
): () => void {
  return cache.onChange((change) => {
    const keys = map(change.object, change);
    // What an object no longer points to must be looked at too.
    const before = change.type === 'updated' ? map(change.old, change) : [];
    for (const key of new Set([...keys, ...before].map(objectKey))) queue.add(key);
  });
}

/** For `watchInto`: the owner of this kind that controls the object. */
export function enqueueOwner(kind: string): (object: KubeObject) => Key[] {
  return (object) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind) return [];
    return [{ namespace: object.metadata.namespace ?? '', name: owner.name }];
  };
}

export function keyOf(object: KubeObject): Key {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

/** The inverse of `objectKey`: no name contains a slash. */
export function parseKey(key: string): Key {
  const slash = key.indexOf('/');
  return { namespace: slash === -1 ? '' : key.slice(0, slash), name: key.slice(slash + 1) };
}
