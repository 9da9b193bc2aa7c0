/** Which projects have filled their share of the run store, so that events are refused. A project counts until it was below for a minute. */
import type { Clock } from '../../kube/clock.ts';
import type { Use } from '../../runs/usage.ts';
import { limitsReached } from './quota.ts';

/** `quota`: every event is refused. `keys`: events with a dedupe key are. */
export type FullLimit = 'quota' | 'keys';

export type FullProjects = {
  /** Takes what was read of all projects. Returns the namespaces of which `limitOf` has changed. */
  seen(projects: readonly { namespace: string; use: Use }[]): string[];
  limitOf(namespace: string): FullLimit | undefined;
};

/** So that a project at its limit does not change its state with each run that ends. */
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
