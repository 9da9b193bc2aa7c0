/** One Lease and our claim to it: taking, renewing and giving back, by optimistic writes. */
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import type { Log } from './log.ts';
import { leases, type Lease } from './resource.ts';

export type HolderOptions = {
  client: Pick<KubeClient, 'find' | 'create' | 'replace'>;
  namespace: string;
  name: string;
  identity: string;
  durationMs: number;
  /** Bound of one call, in milliseconds. */
  timeoutMs: number;
  log: Log;
};

export type Holder = {
  /** Takes or renews the lease if it may be; false if another holds it or the server cannot be asked. */
  tryHold(signal: AbortSignal): Promise<boolean>;
  /** True if we took it once and have not seen it in other hands since. */
  holds(): boolean;
  /** The identity that the lease named when it was seen last, if it is another's. */
  heldBy(): string | undefined;
  /** Milliseconds since the last renewal was begun. */
  ageMs(): number;
  release(): Promise<void>;
};

export function createHolder(options: HolderOptions, clock: Clock): Holder {
  const { client, namespace, name, identity, durationMs, timeoutMs, log } = options;
  /** The lease as we last saw it, and when we first saw it so. */
  let seen: { lease: Lease; at: number } | undefined;
  let renewedAt = -Infinity;

  function see(lease: Lease): void {
    if (seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) {
      seen = { lease, at: clock.now() };
    }
  }

  function isFree(): boolean {
    const spec = seen?.lease.spec;
    if (seen === undefined || spec?.holderIdentity === undefined || spec.holderIdentity === '') return true;
    if (spec.holderIdentity === identity) return true;
    const lastsMs = spec.leaseDurationSeconds === undefined ? durationMs : spec.leaseDurationSeconds * 1_000;
    return clock.now() - seen.at > lastsMs;
  }

  function claimed(): Lease['spec'] {
    const now = microTime(clock.date());
    const before = seen?.lease.spec;
    const isOurs = before?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1_000),
      acquireTime: isOurs ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (isOurs || before === undefined ? 0 : 1),
    };
  }

  async function write(spec: Lease['spec'], signal: AbortSignal): Promise<void> {
    const metadata = seen?.lease.metadata ?? { namespace, name };
    const call = { signal, timeoutMs, retries: 0 };
    const lease =
      seen === undefined
        ? await client.create(leases, { metadata, spec }, call)
        : await client.replace(leases, { metadata, spec }, call);
    see(lease);
  }

  async function look(signal: AbortSignal): Promise<void> {
    const lease = await client.find(leases, { namespace, name }, { signal, timeoutMs, retries: 0 });
    if (lease === undefined) seen = undefined;
    else see(lease);
  }

  async function tryHold(signal: AbortSignal): Promise<boolean> {
    const startedAt = clock.now();
    try {
      // A holder knows its lease: no read. The resourceVersion tells if it was changed.
      if (seen?.lease.spec?.holderIdentity !== identity) await look(signal);
      if (!isFree()) return false;
      await write(claimed(), signal);
      renewedAt = startedAt;
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) await lookAgain(signal);
      else if (!signal.aborted) log.warn({ lease: name, err: error }, 'cannot take or renew the lease');
      return false;
    }
  }

  /** After a write that met another's: what is there now decides at the next attempt. */
  async function lookAgain(signal: AbortSignal): Promise<void> {
    try {
      await look(signal);
    } catch (error) {
      log.warn({ lease: name, err: error }, 'cannot read the lease');
    }
  }

  return {
    tryHold,
    holds: () =>
      renewedAt > -Infinity && (seen === undefined || seen.lease.spec?.holderIdentity === identity),
    heldBy: () => heldByAnother(seen?.lease, identity),
    ageMs: () => clock.now() - renewedAt,
    release: async () => {
      const spec = claimed();
      const { holderIdentity: _holder, ...rest } = spec ?? {};
      try {
        await write({ ...rest, leaseDurationSeconds: 1 }, AbortSignal.timeout(timeoutMs));
      } catch (error) {
        log.warn({ lease: name, err: error }, 'cannot give the lease back, it will run out');
      }
    },
  };
}

function heldByAnother(lease: Lease | undefined, identity: string): string | undefined {
  const { holderIdentity = '' } = lease?.spec ?? {};
  return holderIdentity === '' || holderIdentity === identity ? undefined : holderIdentity;
}

/** `metav1.MicroTime`: the server wants exactly six digits. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
