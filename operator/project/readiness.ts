/** Whether a project has a runner that is ready, and what stands in the way. */
import { findCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import type { World } from '../world.ts';
import { POOL } from './names.ts';

export type PoolState =
  | { kind: 'Ready' }
  /** `message`: why no pod can be made, in the API server's words. */
  | { kind: 'Starting'; message?: string }
  /** The operator may not make the pool. */
  | { kind: 'Unauthorized'; message: string };

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
  const refusal = refusedPools.get(namespace);
  if (refusal !== undefined) return { kind: 'Unauthorized', message: refusal };
  const { availableReplicas = 0, conditions = [] } = world.deployments.get(namespace, POOL)?.status ?? {};
  const granted = grantedSecrets.get(namespace) ?? secretNames;
  const missing = secretNames.filter((name) => !granted.includes(name));
  if (availableReplicas > 0 && missing.length === 0) return { kind: 'Ready' };
  if (missing.length > 0)
    return { kind: 'Starting', message: `Runners may not read Secret ${missing.join(', ')} yet.` };
  const failure = findCondition(conditions as Condition[], 'ReplicaFailure');
  return { kind: 'Starting', ...(failure?.status === 'True' && { message: failure.message }) };
}
