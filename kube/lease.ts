/**
 * Leader election with a Lease, by the rules of client-go: whether a holder is alive is judged by changes
 * that we see on our own monotonic clock, never by comparing the times that others wrote. As there, two
 * processes may for a moment both believe that they lead; so every write of a leader must be safe when
 * repeated, or guarded by a resourceVersion. What `onStarted` is given tells right before a write whether the
 * lease can have run out meanwhile, as it can in a process that stood still.
 */
import { jittered } from './backoff.ts';
import type { KubeClient, Manifest } from './client.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { createHolder, microTime, type Holder } from './holder.ts';
import type { Log } from './log.ts';
import { leases, type Lease, type OwnerReference } from './resource.ts';

export type LeaseOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  /** Unique among living processes; the pod's name is. */
  identity: string;
  /** How long others leave an unrenewed lease alone; default 15,000. */
  durationMs?: number;
  /** How long we try to renew before we give up; shorter than the duration; default 10,000. */
  renewMs?: number;
  /** Between two attempts to take or renew; default 2,000. */
  retryMs?: number;
  /**
   * Leads until the signal is aborted, and returns when all its work has ended. `isLeading` is false from the
   * moment at which the lease was not renewed for `renewMs`, also before anybody has come to abort the
   * signal.
   */
  onStarted: (signal: AbortSignal, isLeading: () => boolean) => Promise<void>;
  /** The lease was lost: another may lead already. The program must exit. */
  onLost: () => void;
  log: Log;
  /** Shutdown: the work is ended first, then the lease is given back. */
  signal: AbortSignal;
  clock?: Clock;
};

/**
 * Waits for the lease, leads, and resolves after shutdown (a successor takes over within about a `retryMs`)
 * or after `onLost`. Rejects with what `onStarted` rejects with, after the lease was given back.
 */
export async function runWithLease(options: LeaseOptions): Promise<void> {
  const { clock = systemClock, durationMs = 15_000, renewMs = 10_000, retryMs = 2_000, signal } = options;
  const holder = createHolder({ ...options, durationMs, timeoutMs: renewMs / 2 }, clock);
  while (!signal.aborted && !(await holder.tryHold(signal))) {
    await sleep(jittered(retryMs, 0.2), signal, clock);
  }
  if (!holder.holds()) return;
  options.log.info({ lease: options.name, identity: options.identity }, 'lease taken');
  await lead(options, holder, clock);
}

/** Renews beside the work until the work has ended or the lease is lost. */
async function lead(options: LeaseOptions, holder: Holder, clock: Clock): Promise<void> {
  const { retryMs = 2_000, renewMs = 10_000, signal } = options;
  const lost = new AbortController();
  const ended = new AbortController();
  const isLeading = (): boolean => !lost.signal.aborted && holder.holds() && holder.ageMs() < renewMs;
  const work = options
    .onStarted(AbortSignal.any([signal, lost.signal]), isLeading)
    .finally(() => ended.abort());
  // Awaited below; a rejection before that must not end the process.
  work.catch(() => undefined);
  while (!ended.signal.aborted) {
    await sleep(retryMs, ended.signal, clock);
    if (ended.signal.aborted) break;
    const left = renewMs - holder.ageMs();
    const renewed = left > 0 && (await holder.tryHold(AbortSignal.timeout(Math.ceil(left))));
    if (renewed || isLeading()) continue;
    options.log.error({ lease: options.name, identity: options.identity }, 'lease lost');
    lost.abort(new Error('The lease was lost'));
    options.onLost();
    return;
  }
  await holder.release();
  options.log.info({ lease: options.name, identity: options.identity }, 'lease given back');
  await work;
}

export type KeepLeaseOptions = {
  client: Pick<KubeClient, 'apply' | 'delete'>;
  namespace: string;
  name: string;
  /** The holder that the lease names. */
  identity: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** The pod, so that the lease goes with it even if it had no time to say goodbye. */
  owner?: OwnerReference;
  /** What the lease says about when it is to be taken for dead; default 15,000. */
  durationMs?: number;
  /** Between two renewals, give or take a tenth; default 5,000. */
  everyMs?: number;
  log: Log;
  /** Ends the renewals and deletes the lease. */
  signal: AbortSignal;
  clock?: Clock;
};

export type KeptLease = {
  /**
   * Replaces the annotations. Written at once, or together with what follows within 50 ms of the last write.
   */
  publish(annotations: Record<string, string>): void;
  /**
   * The annotations that the server has confirmed, and how long ago the write that it confirmed was begun.
   * `steadyMs`: how long no write has failed; 0 where the last one did, or none was confirmed.
   */
  confirmed(): { annotations: Record<string, string> | undefined; ageMs: number; steadyMs: number };
  /** Resolves when the lease is deleted, after the signal. */
  readonly stopped: Promise<void>;
};

const spacingMs = 50;
const keepRetryMs = 500;
const keepTimeoutMs = 3_000;

/** Keeps a Lease of our own renewed: a sign of life that carries annotations. It never rejects. */
export function keepLease(options: KeepLeaseOptions): KeptLease {
  const { client, namespace, name, everyMs = 5_000, log, signal, clock = systemClock } = options;
  let wanted = options.annotations ?? {};
  let confirmed: { annotations: Record<string, string>; at: number } | undefined;
  let steadySince: number | undefined;
  let wake = new AbortController();

  async function write(): Promise<boolean> {
    const annotations = wanted;
    const at = clock.now();
    try {
      const call = { signal, timeoutMs: keepTimeoutMs, retries: 0 };
      await client.apply(leases, keptLease(options, annotations, clock), call);
      confirmed = { annotations, at };
      steadySince ??= at;
      return true;
    } catch (error) {
      steadySince = undefined;
      if (!signal.aborted) log.warn({ lease: name, err: error }, 'cannot renew the lease');
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const written = await write();
      await sleep(written ? spacingMs : jittered(keepRetryMs, 0.5), signal, clock);
      if (!written || confirmed?.annotations !== wanted) continue;
      wake = new AbortController();
      await sleep(jittered(everyMs, 0.1), AbortSignal.any([signal, wake.signal]), clock);
    }
    await client
      .delete(leases, { namespace, name }, { timeoutMs: keepTimeoutMs, retries: 0 })
      .catch((error: unknown) =>
        log.warn({ lease: name, err: error }, 'cannot delete the lease, it will run out'),
      );
  }

  return {
    publish: (annotations) => {
      wanted = annotations;
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

function keptLease(
  options: KeepLeaseOptions,
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
