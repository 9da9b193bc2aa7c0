/**
 * The reconcile loop: keys come from caches, one function looks at the world and acts, and here alone is decided what
 * its outcome means for the key. A failure never ends the loop.
 */
import { isTransient } from './errors.ts';
import type { Cache } from './cache.ts';
import type { Log } from './log.ts';
import type { Queue } from './queue.ts';
import { controllerOf, objectKey, type KubeObject, type ObjectRef } from './resource.ts';

/** What a reconcile is about. A cluster-wide object has an empty namespace. */
export type Key = { namespace: string; name: string };

export type Action = { kind: 'done' } | { kind: 'after'; ms: number };

/** All is as it should be until something changes. */
export function done(): Action {
  return { kind: 'done' };
}

/** Look again after `ms`, whatever happens. */
export function after(ms: number): Action {
  return { kind: 'after', ms };
}

/** The user must act. The caller has written the condition; the key is not tried again before something changes. */
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
