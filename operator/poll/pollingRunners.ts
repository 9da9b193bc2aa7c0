/** Notes which projects have a runner that polls. The readings of quotas, which are repeated, say so. */
import type { StoreChanges } from '../store/changes.ts';
import type { Polls } from './polls.ts';

/** A runner that could not renew its lease for a moment, as after an outage of the run store, still polls. */
const READINGS = 2;

/** Has `polls.polling` follow what is read. A project that is not read stays as it was. */
export function followPollingRunners({
  polls,
  storeChanges,
}: {
  polls: Pick<Polls, 'polling' | 'pollingChanged'>;
  storeChanges: Pick<StoreChanges, 'used'>;
}): void {
  const readings = new Map<string, number>();
  storeChanges.used.onChange((projects) => {
    for (const { namespace, use } of projects) {
      const without = use.isPolling ? 0 : (readings.get(namespace) ?? 0) + 1;
      readings.set(namespace, without);
      const isPolling = without < READINGS;
      const isKnown = use.isPolling || without >= READINGS;
      if (!isKnown || polls.polling.get(namespace) === isPolling) continue;
      polls.polling.set(namespace, isPolling);
      polls.pollingChanged.notify(namespace);
    }
  });
}
