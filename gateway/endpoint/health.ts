/**
 * Decides whether this replica is ready. It must know every route and have acknowledged them in its Lease.
 * After that an unavailable API server changes nothing, but a replica that alone lags behind the API server
 * becomes unready.
 */
import type { LeaseAge } from '../routing/acknowledge.ts';

export type Health = {
  /** Whether every route was known once. */
  synced: () => boolean;
  /** The reason why the replica is not ready; undefined if it is. */
  unready: () => string | undefined;
};

export type HealthSources = {
  /**
   * Milliseconds since the API server last confirmed that no route is missing; Infinity before the first
   * time.
   */
  routesAgeMs: () => number;
  /**
   * Milliseconds since the last write of the Lease (Infinity before the first), and for how long every write
   * succeeded.
   */
  lease: () => LeaseAge;
  draining: () => boolean;
};

/**
 * A watch recovers within 30 s. A replica that lags twice as long while its Lease writes succeed is stuck.
 * After an outage of the API server all replicas write their Leases before their watches restart; they are
 * not stuck.
 */
const LAGGING_MS = 60_000;

export function createHealth({ routesAgeMs, lease, draining }: HealthSources): Health {
  const synced = (): boolean => routesAgeMs() !== Infinity;
  return {
    synced,
    unready: () => {
      if (draining()) return 'shutting down';
      if (!synced()) return 'routes are not synced yet';
      const { ageMs, steadyMs } = lease();
      if (ageMs === Infinity) return 'lease is not written yet';
      if (routesAgeMs() > LAGGING_MS && steadyMs > LAGGING_MS) return 'routes are out of date';
      return undefined;
    },
  };
}
