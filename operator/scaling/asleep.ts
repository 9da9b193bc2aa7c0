/** Which projects have runners that sleep or wake. */
import { findCondition } from '../../kube/conditions.ts';
import type { Condition, Deployment } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { POOL } from '../shared/names.ts';
import { hasRunner } from '../pods/pools.ts';
import { projectSleepAfter } from '../pods/scaling.ts';
import type { ScalingState } from './state.ts';

type SleepContext = {
  caches: Pick<Caches, 'deployments' | 'settings'>;
  config: OperatorConfig;
  scaling: Pick<ScalingState, 'asleep' | 'waking'>;
};

/**
 * Whether the runners of the project sleep: its Deployment has no replicas, on purpose. After a restart of
 * the operator the Deployment says so.
 */
export function isAsleep(context: SleepContext, namespace: string): boolean {
  if (!mayWake(context, namespace)) return false;
  const { caches, scaling } = context;
  return scaling.asleep.get(namespace) ?? hasNoReplicas(caches.deployments.get(namespace, POOL));
}

/**
 * Whether the project is served: a runner is available, or the runners sleep or wake, so that one will be
 * as soon as there is work. Runners that slept until the settings changed wake.
 */
export function isServed(context: SleepContext, namespace: string): boolean {
  const { caches, scaling } = context;
  const pool = caches.deployments.get(namespace, POOL);
  if (hasRunner(pool) || isAsleep(context, namespace) || scaling.waking.has(namespace)) return true;
  if (scaling.asleep.get(namespace) === true) return true;
  // An operator that has just started may have woken it before.
  return !scaling.asleep.has(namespace) && mayWake(context, namespace) && wokenAt(pool) !== undefined;
}

/**
 * Since when a pool with replicas that has run before has no runner, in milliseconds since 1970: since it was
 * woken, or its runners ended. Undefined for any other pool. Replicas that return are no rollout.
 */
export function wokenAt(pool: Deployment | undefined): number | undefined {
  if (pool === undefined || hasRunner(pool) || hasNoReplicas(pool)) return undefined;
  const conditions = (pool.status?.conditions ?? []) as Condition[];
  const available = findCondition(conditions, 'Available');
  const hasRun = findCondition(conditions, 'Progressing')?.reason === 'NewReplicaSetAvailable';
  if (!hasRun || available?.status !== 'False') return undefined;
  return Date.parse(available.lastTransitionTime);
}

function mayWake(context: SleepContext, namespace: string): boolean {
  return projectSleepAfter(context, namespace) > 0;
}

/** Whether the pool is to have no runner. */
export function hasNoReplicas(pool: Deployment | undefined): boolean {
  return pool?.spec?.replicas === 0;
}
