/**
 * The reconcile loop: keys come from caches, `reconcile` acts, and this module maps its outcome to the next
 * run of the key. A failure does not end the loop.
 */
import type { Cache, Change } from './cache.ts';
import { DeletedError } from './deleted.ts';
import { isConflict } from './errors.ts';
import type { Log } from './log.ts';
import type { Queue } from './queue.ts';
import { controllerOf, objectKey, type KubeObject } from './resource.ts';

/** The key of the object to reconcile. A cluster-wide object has an empty namespace. */
export type Key = { namespace: string; name: string };

export type Action = { kind: 'done' } | { kind: 'after'; ms: number };

/** Done until something changes. */
export function done(): Action {
  return { kind: 'done' };
}

/** Reconcile again after `ms`, or earlier if something changes. */
export function after(ms: number): Action {
  return { kind: 'after', ms };
}

/**
 * The user must act. The caller has written the condition; the key is not retried until something changes.
 */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

/** Something is not available yet. The caller has written the condition; reconcile again after `ms`. */
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

/** Processes the queue until the signal is aborted; resolves when the last reconcile has ended. */
export async function runController(options: ControllerOptions): Promise<void> {
  const { queue, signal } = options;
  if (signal.aborted) return;
  const stalled = new Map<string, string>();
  queue.start((key) => reconcileKey(options, stalled, key));
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await queue.drain();
}

/** Why each stalled key stalled, so that a state is logged once, however often it is reconciled. */
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
      log.info({ ...fields, reason: error.message }, 'reconcile stalled');
    stalled.set(key, error.message);
    return 'stalled';
  }
  if (error instanceof WaitingError) {
    queue.forget(key);
    queue.addAfter(key, error.ms);
    log.debug({ ...fields, reason: error.message, ms: error.ms }, 'reconcile waiting');
    return 'waiting';
  }
  const delayMs = Math.round(queue.retry(key));
  if (isConflict(error)) {
    log.debug({ ...fields, delayMs }, 'conflict, requeued');
    return 'conflict';
  }
  if (error instanceof DeletedError) {
    log.debug({ ...fields, delayMs, reason: error.message }, 'object deleted, requeued');
    return 'conflict';
  }
  log.warn({ ...fields, delayMs, err: error }, 'reconcile failed');
  return 'failed';
}

/** Queues the keys of a change, for every cached object and every later change. */
export function watchInto<T extends KubeObject>(
  cache: Cache<T>,
  queue: Pick<Queue, 'add'>,
  map: (object: T, change: Change<T>) => readonly Key[] = (object) => [keyOf(object)],
): () => void {
  return cache.onChange((change) => {
    const keys = map(change.object, change);
    // Keys that the object no longer refers to must be reconciled, too.
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
