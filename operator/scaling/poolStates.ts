/** What the runner pools of all projects do, for metrics. Pure. */
import type { Deployment } from '../../kube/resource.ts';
import { hasRunner } from '../pods/pools.ts';
import { hasNoReplicas } from './asleep.ts';

export const POOL_STATES = ['ready', 'starting', 'asleep'] as const;
export type PoolState = (typeof POOL_STATES)[number];

/** How many pools have a runner that is available, wait for their first one, or have none on purpose. */
export function poolStates(pools: readonly Deployment[]): Record<PoolState, number> {
  const counts = { ready: 0, starting: 0, asleep: 0 };
  for (const pool of pools) counts[stateOf(pool)] += 1;
  return counts;
}

function stateOf(pool: Deployment): PoolState {
  if (hasNoReplicas(pool)) return 'asleep';
  return hasRunner(pool) ? 'ready' : 'starting';
}
