/** Whether a project has a ready runner, and if not, why. */
import type { Deployment } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import { needsPool } from './needs.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { POOL } from '../shared/names.ts';
import { projectScaling } from '../pods/scaling.ts';
import { scalingProblemOf } from '../scaling/problem.ts';
import type { ScalingState } from '../scaling/state.ts';
import { hasRunner, type PoolRefusal, type Pools } from '../pods/pools.ts';
import { isAsleep, isServed } from '../scaling/asleep.ts';
import { changesRollout, obstacleOf, problemFor, type Obstacle } from '../pods/rollout.ts';

export type PoolState =
  /**
   * `newer`: why newer runners cannot start beside it. `scaling`: why the number of runners is not as it
   * should be.
   */
  | { kind: 'Ready'; newer?: string; scaling?: string }
  /** There is no runner on purpose. `isWaking`: one starts. `message`: what it waits for. */
  | { kind: 'Asleep'; isWaking: boolean; message?: string }
  /** There is no pool, and the namespace needs none yet. */
  | { kind: 'Absent' }
  /** `message`: what the pool waits for. */
  | { kind: 'Starting'; message?: string }
  /** No pod can start until a person acts. */
  | ({ kind: 'Blocked' } & Obstacle)
  /** The API server refuses an object of the pool. `hasRunner`: an earlier runner is available. */
  | ({ kind: 'Refused'; hasRunner: boolean } & PoolRefusal);

type PoolContext = {
  caches: Pick<Caches, 'deployments' | 'routes' | 'workflows' | 'runs' | 'credentials' | 'settings'>;
  config: OperatorConfig;
  pools: Pick<Pools, 'refusals' | 'grantedSecrets' | 'podProblems'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'otherScalers' | 'refusals'>;
};

/**
 * The pool is ready for a workflow if its Deployment has an available pod, and runners may read the Secrets
 * that the workflow needs. Until this process has applied the Role, the pods alone decide.
 */
export function poolState(
  context: PoolContext,
  namespace: string,
  secretNames: readonly string[],
): PoolState {
  const { caches, pools } = context;
  const pool = caches.deployments.get(namespace, POOL);
  const refusal = pools.refusals.get(namespace);
  if (refusal !== undefined) return { kind: 'Refused', ...refusal, hasRunner: hasRunner(pool) };
  const granted = pools.grantedSecrets.get(namespace) ?? secretNames;
  const missing = secretNames.filter((name) => !granted.includes(name));
  const problem = problemFor(pool, pools.podProblems.get(namespace));
  const obstacle = obstacleOf(pool, problem);
  if (hasRunner(pool) && missing.length === 0)
    return readyState(context, namespace, (obstacle ?? problem)?.message);
  if (!hasRunner(pool) && obstacle !== undefined) return { kind: 'Blocked', ...obstacle };
  if (missing.length > 0)
    return { kind: 'Starting', message: `Runners may not read Secret ${missing.join(', ')} yet.` };
  if (pool === undefined && !needsPool(caches, namespace)) return { kind: 'Absent' };
  const message = problem && { message: problem.message };
  if (!isServed(context, namespace)) return { kind: 'Starting', ...message };
  const isWaking = !isAsleep(context, namespace);
  return { kind: 'Asleep', isWaking, ...(isWaking && message) };
}

function readyState(context: PoolContext, namespace: string, newer: string | undefined): PoolState {
  const { engine } = projectScaling(context, namespace);
  const scaling = scalingProblemOf(context.scaling, namespace, engine)?.message;
  return {
    kind: 'Ready',
    ...(newer !== undefined && { newer }),
    ...(scaling !== undefined && { scaling }),
  };
}

/** Whether the change may change the result of `poolState`. */
export function changesPool(before: Deployment, after: Deployment): boolean {
  return hasRunner(before) !== hasRunner(after) || changesRollout(before, after);
}
