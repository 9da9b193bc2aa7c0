/**
 * The projects that have filled their share of the run store, so that events are refused. A project counts
 * until it was below the limit for a minute.
 */
import type { Clock } from '../../kube/clock.ts';
import type { Use } from '../../runs/storeUse.ts';
import { limitsReached } from './quota.ts';

/** `quota`: every event is refused. `keys`: events with a dedupe key are. */
export type FullLimit = 'quota' | 'keys';

export type FullProjects = {
  /** Updates the state by the use of all projects. Returns the namespaces whose `limitOf` changed. */
  seen(projects: readonly { namespace: string; use: Use }[]): string[];
  limitOf(namespace: string): FullLimit | undefined;
};

/** A project at its limit must not change its state with each run that ends. */
const BELOW_MS = 60_000;

export function createFullProjects(clock: Pick<Clock, 'now'>): FullProjects {
  const full = new Map<string, { limit: FullLimit; at: number }>();

  function update(namespace: string, use: Use): boolean {
    const limit = limitsReached(use).find((each) => each !== 'claims');
    const before = full.get(namespace);
    if (limit !== undefined) {
      full.set(namespace, { limit, at: clock.now() });
      return before?.limit !== limit;
    }
    return before !== undefined && clock.now() - before.at >= BELOW_MS && full.delete(namespace);
  }

  return {
    seen: (projects) =>
      projects.filter(({ namespace, use }) => update(namespace, use)).map(({ namespace }) => namespace),
    limitOf: (namespace) => full.get(namespace)?.limit,
  };
}
