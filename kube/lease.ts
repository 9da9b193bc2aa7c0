/**
 * Leader election with a Lease, as in client-go: a holder counts as alive while this process observes
 * changes, on its own monotonic clock; times of other processes are never compared. As in client-go, two
 * processes may briefly both believe that they lead, so every write of a leader must be idempotent or guarded
 * by a resourceVersion. `isLeading` detects, right before a write, a lease that may have expired, for example
 * in a paused process.
 */
import { jittered } from './backoff.ts';
import { untilBeat } from './beat.ts';
import type { KubeClient } from './client.ts';
import type { Manifest } from './writes.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { createLeaseLock, microTime, type LeaseLock } from './leaseLock.ts';
import type { Log } from './log.ts';
import { leases, type Lease, type OwnerReference } from './resource.ts';

export type LeaseOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** Unique among running processes, such as the name of the pod. */
  identity: string;
  /** How long others respect a lease without renewal, in milliseconds; default 15,000. */
  durationMs?: number;
  /**
   * How long to try to renew before the lease counts as lost, in milliseconds; shorter than the duration;
   * default 10,000.
   */
  renewMs?: number;
  /** The time between two attempts to acquire or renew, in milliseconds; default 2,000. */
  retryMs?: number;
  /**
   * Leads until the signal is aborted, and resolves when all its work has ended. `isLeading` is false as soon
   * as the lease was not renewed for `renewMs`, even before the signal is aborted.
   */
  onStarted: (signal: AbortSignal, isLeading: () => boolean) => Promise<void>;
  /** Called when the lease was lost: another process may lead already. The program must exit. */
  onLost: () => void;
  log: Log;
  /** Shutdown: first the work ends, then the lease is released. */
  signal: AbortSignal;
  clock?: Clock;
};

/**
 * Waits for the lease, leads, and resolves after shutdown (a successor takes over within about a `retryMs`)
 * or after `onLost`. Rejects with the error of `onStarted` after the lease was released.
 */
export async function runWithLease(options: LeaseOptions): Promise<void> {
  const { clock = systemClock, durationMs = 15_000, renewMs = 10_000, retryMs = 2_000, signal } = options;
  const lock = createLeaseLock({ ...options, durationMs, timeoutMs: renewMs / 2 }, clock);
  let logged: string | undefined;
  while (!signal.aborted && !(await lock.tryAcquire(signal))) {
    const holder = lock.otherHolder();
    if (holder !== undefined && holder !== logged)
      options.log.info({ lease: options.name, holder }, 'waiting for the lease');
    logged = holder;
    await sleep(jittered(retryMs, 0.2), signal, clock);
  }
  if (!lock.isHeld()) return;
  options.log.info({ lease: options.name, identity: options.identity }, 'acquired lease');
  await lead(options, lock, clock);
}

/** Renews the lease until the work has ended or the lease is lost. */
async function lead(options: LeaseOptions, lock: LeaseLock, clock: Clock): Promise<void> {
  const { retryMs = 2_000, renewMs = 10_000, signal } = options;
  const lost = new AbortController();
  const ended = new AbortController();
  const isLeading = (): boolean => !lost.signal.aborted && lock.isHeld() && lock.ageMs() < renewMs;
  const work = options
    .onStarted(AbortSignal.any([signal, lost.signal]), isLeading)
    .finally(() => ended.abort());
  // Awaited below; a rejection before that must not end the process.
  work.catch(() => undefined);
  let renewed = true;
  while (!ended.signal.aborted) {
    // After a failure there is no time for a longer pause: the next attempt may be the last one.
    await (renewed ? untilBeat(retryMs, ended.signal, clock) : sleep(retryMs, ended.signal, clock));
    if (ended.signal.aborted) break;
    const left = renewMs - lock.ageMs();
    renewed = left > 0 && (await acquireWithin(lock, left, clock));
    if (renewed || isLeading()) continue;
    options.log.error({ lease: options.name, identity: options.identity }, 'lost lease');
    lost.abort(new Error('The lease was lost'));
    options.onLost();
    return;
  }
  await lock.release();
  options.log.info({ lease: options.name, identity: options.identity }, 'released lease');
  await work;
}

/** As with `AbortSignal.timeout`, whose timer would go on and wake the process. */
async function acquireWithin(lock: LeaseLock, ms: number, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const cancel = clock.timer(ms, () => over.abort());
  return lock.tryAcquire(over.signal).finally(cancel);
}

export type MaintainLeaseOptions = {
  client: Pick<KubeClient, 'apply' | 'delete'>;
  namespace: string;
  name: string;
  /** The holder that the lease names. */
  identity: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** The pod, so that the lease is deleted with it even without a clean shutdown. */
  owner?: OwnerReference;
  /** After how many milliseconds without renewal the holder counts as dead; default 15,000. */
  durationMs?: number;
  /** The time between two renewals, ± 10 %, in milliseconds; default 5,000. */
  everyMs?: number;
  log: Log;
  /** Ends the renewals and deletes the lease. */
  signal: AbortSignal;
  clock?: Clock;
};

export type MaintainedLease = {
  /**
   * Replaces the annotations. They are written at once, or within 50 ms together with further changes.
   */
  publish(annotations: Record<string, string>): void;
  /**
   * The annotations that the API server has confirmed, and the age of the start of that write. `steadyMs`:
   * for how long no write has failed; 0 if the last one failed or none was confirmed.
   */
  confirmed(): { annotations: Record<string, string> | undefined; ageMs: number; steadyMs: number };
  /** Resolves when the lease is deleted, after the signal. */
  readonly stopped: Promise<void>;
};

const spacingMs = 50;
const renewRetryMs = 500;
const renewTimeoutMs = 3_000;

/** Renews the Lease of this process periodically: a heartbeat with annotations. It never rejects. */
export function maintainLease(options: MaintainLeaseOptions): MaintainedLease {
  const { client, namespace, name, everyMs = 5_000, log, signal, clock = systemClock } = options;
  let desired = options.annotations ?? {};
  let confirmed: { annotations: Record<string, string>; at: number } | undefined;
  let steadySince: number | undefined;
  let wake = new AbortController();

  async function write(): Promise<boolean> {
    const annotations = desired;
    const at = clock.now();
    try {
      const call = { signal, timeoutMs: renewTimeoutMs, retries: 0 };
      await client.apply(leases, leaseManifest(options, annotations, clock), call);
      confirmed = { annotations, at };
      steadySince ??= at;
      return true;
    } catch (error) {
      steadySince = undefined;
      if (!signal.aborted) log.warn({ lease: name, err: error }, 'renewing the lease failed');
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const written = await write();
      await sleep(written ? spacingMs : jittered(renewRetryMs, 0.5), signal, clock);
      if (!written || confirmed?.annotations !== desired) continue;
      wake = new AbortController();
      await sleep(jittered(everyMs, 0.1), AbortSignal.any([signal, wake.signal]), clock);
    }
    await client
      .delete(leases, { namespace, name }, { timeoutMs: renewTimeoutMs, retries: 0 })
      .catch((error: unknown) => log.warn({ lease: name, err: error }, 'deleting the lease failed'));
  }

  return {
    publish: (annotations) => {
      desired = annotations;
      wake.abort();
    },
    confirmed: () => ({
      annotations: confirmed?.annotations,
      ageMs: clock.now() - (confirmed?.at ?? -Infinity),
      steadyMs: steadySince === undefined ? 0 : clock.now() - steadySince,
    }),
    stopped: run(),
  };
}

function leaseManifest(
  options: MaintainLeaseOptions,
  annotations: Record<string, string>,
  clock: Clock,
): Manifest<Lease> {
  const { namespace, name, identity, labels, owner, durationMs = 15_000 } = options;
  return {
    metadata: {
      namespace,
      name,
      annotations,
      ...(labels !== undefined && { labels }),
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1_000),
      renewTime: microTime(clock.date()),
    },
  };
}
