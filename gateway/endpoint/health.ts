/**
 * Whether this replica should be sent requests. It must first know every route and have said so in its Lease; after that
 * an API server that is away changes nothing, but a replica that alone lags behind it turns unready.
 */
import type { LeaseAge } from '../routing/acknowledge.ts';

export type Health = {
  /** Every route was known once. */
  synced: () => boolean;
  /** Why no requests should be sent here; undefined if they should. */
  unready: () => string | undefined;
};

export type HealthSources = {
  /** Milliseconds since the API server last showed that no route is missing; Infinity before the first time. */
  routesAgeMs: () => number;
  /** Milliseconds since it last took our Lease (Infinity before the first time), and for how long it has taken each. */
  lease: () => LeaseAge;
  draining: () => boolean;
};

/**
 * A watch heals within 30 s: whoever is behind for twice as long, while the API server takes its Lease all that time, is stuck. After an
 * outage of the API server all replicas write their Leases before their watches begin anew, and none of them is stuck.
 */
const LAGGING_MS = 60_000;

export function createHealth({ routesAgeMs, lease, draining }: HealthSources): Health {
  const synced = (): boolean => routesAgeMs() !== Infinity;
  return {
    synced,
    unready: () => {
      if (draining()) return 'shutting down';
      if (!synced()) return 'the routes are not known yet';
      const { ageMs, steadyMs } = lease();
      if (ageMs === Infinity) return 'the lease was not written yet';
      if (routesAgeMs() > LAGGING_MS && steadyMs > LAGGING_MS) return 'the routes are out of date';
      return undefined;
    },
  };
}
