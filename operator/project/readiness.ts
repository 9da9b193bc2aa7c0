/** Whether a project has a runner that is ready, and what stands in the way. */
import type { Reason } from '../../api/conditions.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Condition, Deployment } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import type { World } from '../world.ts';
import { POOL } from './names.ts';

export type PoolState =
  | { kind: 'Ready' }
  /** `message`: what is awaited. */
  | { kind: 'Starting'; message?: string }
  /** No pod of it can start until somebody acts. */
  | ({ kind: 'Blocked' } & Obstacle)
  /** The API server refuses an object of the pool. `hasRunner`: one from before is available. */
  | ({ kind: 'Refused'; hasRunner: boolean } & PoolRefusal);

/** Why the API server refuses an object of a pool: the operator may not write it, or it is invalid. */
export type PoolRefusal = { reason: Extract<Reason, 'Unauthorized' | 'PoolInvalid'>; message: string };

type Obstacle = {
  reason: Extract<Reason, 'PodsRefused' | 'PodsNotReady'>;
  /** In Kubernetes' words, which name the ResourceQuota, the LimitRange or the policy. */
  message: string;
};

/**
 * The pool is ready for a workflow as long as its Deployment has an available pod, and runners may read the Secrets that
 * the workflow needs. What they may read is unknown until this process has applied it; then the pods alone decide.
 */
export function poolState(
  {
    world,
    refusedPools,
    grantedSecrets,
  }: Pick<OperatorContext, 'refusedPools' | 'grantedSecrets'> & {
    world: Pick<World, 'deployments'>;
  },
  namespace: string,
  secretNames: readonly string[],
): PoolState {
  const pool = world.deployments.get(namespace, POOL);
  const refusal = refusedPools.get(namespace);
  if (refusal !== undefined) return { kind: 'Refused', ...refusal, hasRunner: hasRunner(pool) };
  const granted = grantedSecrets.get(namespace) ?? secretNames;
  const missing = secretNames.filter((name) => !granted.includes(name));
  if (hasRunner(pool) && missing.length === 0) return { kind: 'Ready' };
  const obstacle = obstacleOf(pool);
  if (obstacle !== undefined) return { kind: 'Blocked', ...obstacle };
  if (missing.length > 0)
    return { kind: 'Starting', message: `Runners may not read Secret ${missing.join(', ')} yet.` };
  return { kind: 'Starting' };
}

/** Whether the change is one after which `poolState` may be another. */
export function changesPool(before: Deployment, after: Deployment): boolean {
  return hasRunner(before) !== hasRunner(after) || obstacleOf(before)?.message !== obstacleOf(after)?.message;
}

/** Whether the Deployment of a pool has an available pod. */
export function hasRunner(pool: Deployment | undefined): boolean {
  return (pool?.status?.availableReplicas ?? 0) > 0;
}

/** What keeps all pods away, as the Deployment's own conditions say. Undefined while one is available. */
function obstacleOf(pool: Deployment | undefined): Obstacle | undefined {
  if (hasRunner(pool)) return undefined;
  const conditions = (pool?.status?.conditions ?? []) as Condition[];
  const failure = findCondition(conditions, 'ReplicaFailure');
  if (failure?.status === 'True') return { reason: 'PodsRefused', message: failure.message };
  const progress = findCondition(conditions, 'Progressing');
  if (progress?.status !== 'False') return undefined;
  const reason = progress.reason === 'ProgressDeadlineExceeded' ? 'PodsNotReady' : 'PodsRefused';
  return { reason, message: progress.message };
}
