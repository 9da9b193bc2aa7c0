/** Whether a project has a runner that is ready, and what stands in the way. */
import type { Reason } from '../../api/conditions.ts';
import type { Deployment } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { Caches } from '../shared/caches.ts';
import { needsPool } from './needs.ts';
import { POOL } from '../shared/names.ts';
import { changesRollout, obstacleOf, problemFor, type Obstacle } from '../pods/rollout.ts';

export type PoolState =
  /** `newer`: why newer runners cannot start beside it. */
  | { kind: 'Ready'; newer?: string }
  /** There is no pool, and nothing in the namespace needs one yet. */
  | { kind: 'Absent' }
  /** `message`: what is awaited. */
  | { kind: 'Starting'; message?: string }
  /** No pod of it can start until somebody acts. */
  | ({ kind: 'Blocked' } & Obstacle)
  /** The API server refuses an object of the pool. `hasRunner`: one from before is available. */
  | ({ kind: 'Refused'; hasRunner: boolean } & PoolRefusal);

/** Why the API server refuses an object of a pool: the operator may not write it, or it is invalid. */
export type PoolRefusal = { reason: Extract<Reason, 'Unauthorized' | 'PoolInvalid'>; message: string };

/**
 * The pool is ready for a workflow as long as its Deployment has an available pod, and runners may read the Secrets that
 * the workflow needs. What they may read is unknown until this process has applied it; then the pods alone decide.
 */
export function poolState(
  {
    caches,
    refusedPools,
    grantedSecrets,
    podProblems,
  }: Pick<OperatorContext, 'refusedPools' | 'grantedSecrets' | 'podProblems'> & {
    caches: Pick<Caches, 'deployments' | 'routes' | 'workflows' | 'runs' | 'credentials'>;
  },
  namespace: string,
  secretNames: readonly string[],
): PoolState {
  const pool = caches.deployments.get(namespace, POOL);
  const refusal = refusedPools.get(namespace);
  if (refusal !== undefined) return { kind: 'Refused', ...refusal, hasRunner: hasRunner(pool) };
  const granted = grantedSecrets.get(namespace) ?? secretNames;
  const missing = secretNames.filter((name) => !granted.includes(name));
  const problem = problemFor(pool, podProblems.get(namespace));
  const obstacle = obstacleOf(pool, problem);
  if (hasRunner(pool) && missing.length === 0) {
    const newer = (obstacle ?? problem)?.message;
    return { kind: 'Ready', ...(newer !== undefined && { newer }) };
  }
  if (!hasRunner(pool) && obstacle !== undefined) return { kind: 'Blocked', ...obstacle };
  if (missing.length > 0)
    return { kind: 'Starting', message: `Runners may not read Secret ${missing.join(', ')} yet.` };
  if (pool === undefined && !needsPool(caches, namespace)) return { kind: 'Absent' };
  return { kind: 'Starting', ...(problem && { message: problem.message }) };
}

/** Whether the change is one after which `poolState` may be another. */
export function changesPool(before: Deployment, after: Deployment): boolean {
  return hasRunner(before) !== hasRunner(after) || changesRollout(before, after);
}

/** Whether the Deployment of a pool has an available pod. */
export function hasRunner(pool: Deployment | undefined): boolean {
  return (pool?.status?.availableReplicas ?? 0) > 0;
}
