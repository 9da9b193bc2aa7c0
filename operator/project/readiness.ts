/** Whether a project has a runner that is ready, and what stands in the way. */
import { findCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import { POOL } from './names.ts';

export type PoolState =
  | { kind: 'Ready' }
  /** `message`: why no pod can be made, in the API server's words. */
  | { kind: 'Starting'; message?: string }
  /** The operator may not make the pool. */
  | { kind: 'Unauthorized'; message: string };

/** The pool is ready as long as its Deployment has an available pod. */
export function poolState(
  { world, refusedPools }: Pick<OperatorContext, 'world' | 'refusedPools'>,
  namespace: string,
): PoolState {
  const { availableReplicas = 0, conditions = [] } = world.deployments.get(namespace, POOL)?.status ?? {};
  if (availableReplicas > 0) return { kind: 'Ready' };
  const refusal = refusedPools.get(namespace);
  if (refusal !== undefined) return { kind: 'Unauthorized', message: refusal };
  const failure = findCondition(conditions as Condition[], 'ReplicaFailure');
  return { kind: 'Starting', ...(failure?.status === 'True' && { message: failure.message }) };
}
