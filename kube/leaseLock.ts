/** The lock of one Lease: acquires, renews and releases it with optimistic writes. */
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import type { Log } from './log.ts';
import { leases, type Lease } from './resource.ts';

export type LeaseLockOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  identity: string;
  durationMs: number;
  /** Bound of one call, in milliseconds. */
  timeoutMs: number;
  log: Log;
};

export type LeaseLock = {
  /**
   * Acquires or renews the lease. Returns false if another process holds it or the API server is unavailable.
   */
  tryAcquire(signal: AbortSignal): Promise<boolean>;
  /** Whether this process acquired the lease and has not observed another holder since. */
  isHeld(): boolean;
  /** The identity of another process that held the lease when it was last observed. */
  otherHolder(): string | undefined;
  /** Milliseconds since the start of the last successful renewal. */
  ageMs(): number;
  release(): Promise<void>;
};

export function createLeaseLock(options: LeaseLockOptions, clock: Clock): LeaseLock {
  const { client, namespace, name, identity, durationMs, timeoutMs, log } = options;
  /** The last observed version of the lease, and when it was first observed. */
  let observed: { lease: Lease; at: number } | undefined;
  let renewedAt = -Infinity;

  function observe(lease: Lease): void {
    if (observed?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) {
      observed = { lease, at: clock.now() };
    }
  }

  function isFree(): boolean {
    const spec = observed?.lease.spec;
    if (observed === undefined || spec?.holderIdentity === undefined || spec.holderIdentity === '')
      return true;
    if (spec.holderIdentity === identity) return true;
    const lastsMs = spec.leaseDurationSeconds === undefined ? durationMs : spec.leaseDurationSeconds * 1_000;
    return clock.now() - observed.at > lastsMs;
  }

  async function write(spec: Lease['spec'], signal: AbortSignal): Promise<void> {
    const metadata = observed?.lease.metadata ?? { namespace, name };
    const call = { signal, timeoutMs, retries: 0 };
    const lease =
      observed === undefined
        ? await client.create(leases, { metadata, spec }, call)
        : await client.replace(leases, { metadata, spec }, call);
    observe(lease);
  }

  async function read(signal: AbortSignal): Promise<void> {
    const lease = await client.find(leases, { namespace, name }, { signal, timeoutMs, retries: 0 });
    if (lease === undefined) observed = undefined;
    else observe(lease);
  }

  async function tryAcquire(signal: AbortSignal): Promise<boolean> {
    const startedAt = clock.now();
    try {
      // The holder knows its lease and does not read it: the resourceVersion detects changes.
      if (observed?.lease.spec?.holderIdentity !== identity) await read(signal);
      if (!isFree()) return false;
      await write(specHeldBy(options, clock, observed?.lease), signal);
      renewedAt = startedAt;
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) await readAfterConflict(signal);
      else if (!signal.aborted) log.warn({ lease: name, err: error }, 'acquiring the lease failed');
      return false;
    }
  }

  /** Reads the lease after a conflict, for the next attempt. */
  async function readAfterConflict(signal: AbortSignal): Promise<void> {
    try {
      await read(signal);
    } catch (error) {
      log.warn({ lease: name, err: error }, 'reading the lease failed');
    }
  }

  return {
    tryAcquire,
    isHeld: () =>
      renewedAt > -Infinity && (observed === undefined || observed.lease.spec?.holderIdentity === identity),
    otherHolder: () => otherHolder(observed?.lease, identity),
    ageMs: () => clock.now() - renewedAt,
    release: async () => {
      const spec = specHeldBy(options, clock, observed?.lease);
      const { holderIdentity: _holder, ...rest } = spec;
      try {
        await write({ ...rest, leaseDurationSeconds: 1 }, AbortSignal.timeout(timeoutMs));
      } catch (error) {
        log.warn({ lease: name, err: error }, 'releasing the lease failed');
      }
    },
  };
}

/** The spec of a lease that this process acquires or renews now. */
function specHeldBy(
  { identity, durationMs }: LeaseLockOptions,
  clock: Clock,
  lease: Lease | undefined,
): NonNullable<Lease['spec']> {
  const now = microTime(clock.date());
  const before = lease?.spec;
  const isOurs = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    acquireTime: isOurs ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: (before?.leaseTransitions ?? 0) + (isOurs || before === undefined ? 0 : 1),
  };
}

function otherHolder(lease: Lease | undefined, identity: string): string | undefined {
  const { holderIdentity = '' } = lease?.spec ?? {};
  return holderIdentity === '' || holderIdentity === identity ? undefined : holderIdentity;
}

/** `metav1.MicroTime`: the API server requires exactly six digits. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
