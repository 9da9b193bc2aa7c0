/** The progress of a pool's rollout, and why its pods are not ready. */
import { findCondition } from '../../kube/conditions.ts';
import { pods, type Condition, type Deployment, type Pod } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { POOL, POOL_LABELS } from '../shared/names.ts';

export type Obstacle = {
  reason: 'PodsRefused' | 'PodsNotReady';
  /** The message of Kubernetes, which names the ResourceQuota, the LimitRange or the policy. */
  message: string;
};

/** Why a pod of a pool is not ready. */
export type PodProblem = {
  /** The generation of the Deployment for which the pods were read. */
  generation: number | undefined;
  /** The message of the scheduler or of the kubelet. */
  message: string;
  /** Milliseconds since 1970. */
  since: number;
};

export type Rollout =
  | { kind: 'Complete' }
  /** `message`: why a pod waits. */
  | { kind: 'RollingOut'; message?: string }
  /** The rollout does not progress. */
  | ({ kind: 'Blocked' } & Obstacle);

/** The default progress deadline of a Deployment, which does not apply when only replicas are added. */
const DEADLINE_MS = 600_000;
/** Transient reasons of every container. */
const STARTING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Whether all desired runners have the current template and are available, and if not, why. `least`: so many
 * are enough, since the others start and end with the backlog. Pure.
 */
export function rolloutOf(
  pool: Deployment | undefined,
  problem: PodProblem | undefined,
  now: Date,
  least?: number,
): Rollout {
  if (pool === undefined) return { kind: 'RollingOut' };
  if (isComplete(pool)) return { kind: 'Complete' };
  const current = problemFor(pool, problem);
  const obstacle = obstacleOf(pool, current);
  if (obstacle !== undefined) return { kind: 'Blocked', ...obstacle };
  if (current !== undefined && now.getTime() - current.since >= DEADLINE_MS)
    return { kind: 'Blocked', reason: 'PodsNotReady', message: current.message };
  if (least !== undefined && isComplete(pool, least)) return { kind: 'Complete' };
  return { kind: 'RollingOut', ...(current && { message: current.message }) };
}

function isComplete(pool: Deployment, desired = pool.spec?.replicas ?? 1): boolean {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = pool.status ?? {};
  return (
    isObserved(pool) &&
    updatedReplicas >= desired &&
    availableReplicas >= desired &&
    replicas <= updatedReplicas
  );
}

/** Whether the status of the Deployment is about its current spec. */
export function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** The problem, unless the Deployment has changed since or all its pods are available. Pure. */
export function problemFor(
  pool: Deployment | undefined,
  problem: PodProblem | undefined,
): PodProblem | undefined {
  if (pool === undefined || isComplete(pool)) return undefined;
  return problem?.generation === pool.metadata.generation ? problem : undefined;
}

/** Why pods cannot be created or become ready, by the conditions of the Deployment. Pure. */
export function obstacleOf(pool: Deployment | undefined, problem?: PodProblem): Obstacle | undefined {
  const conditions = (pool?.status?.conditions ?? []) as Condition[];
  const failure = findCondition(conditions, 'ReplicaFailure');
  if (failure?.status === 'True') return { reason: 'PodsRefused', message: failure.message };
  const progress = findCondition(conditions, 'Progressing');
  if (progress?.status !== 'False') return undefined;
  return progress.reason === 'ProgressDeadlineExceeded'
    ? { reason: 'PodsNotReady', message: problem?.message ?? progress.message }
    : { reason: 'PodsRefused', message: progress.message };
}

/** Whether the change may change the result of `rolloutOf`. */
export function changesRollout(before: Deployment, after: Deployment): boolean {
  const textOf = (pool: Deployment): string => `${isComplete(pool)} ${obstacleOf(pool)?.message}`;
  return textOf(before) !== textOf(after);
}

/** Why the newest of these pods that has a problem is not ready. Pure. */
export function podProblem(list: readonly Pod[]): Omit<PodProblem, 'generation'> | undefined {
  const madeAt = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return list
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => madeAt(b) - madeAt(a))
    .map((pod) => problemOf(pod, madeAt(pod)))
    .find((problem) => problem !== undefined);
}

function problemOf({ status }: Pod, madeAt: number): Omit<PodProblem, 'generation'> | undefined {
  const scheduled = findCondition(status?.conditions as Condition[] | undefined, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const { message, reason, lastTransitionTime } = scheduled;
    return { message: message || reason, since: Date.parse(lastTransitionTime) || madeAt };
  }
  const states = (status?.containerStatuses ?? []).map(({ state }) => state?.waiting);
  const waiting = states.find((state) => state?.reason !== undefined && !STARTING.has(state.reason));
  if (waiting?.reason === undefined) return undefined;
  const { reason, message } = waiting;
  return { message: message === undefined ? reason : `${reason}: ${message}`, since: madeAt };
}

/**
 * Reads why pods of the pool are not ready while it has not rolled out, and stores it in `podProblems`.
 * Returns whether it has rolled out, and whether the problem is news. Without the right to list pods the
 * problem stays unknown.
 */
export async function readPodProblem(
  { client, caches, log }: Pick<OperatorContext, 'client' | 'caches' | 'log'>,
  podProblems: Map<string, PodProblem>,
  namespace: string,
): Promise<{ isComplete: boolean; isNews: boolean }> {
  const pool = caches.deployments.get(namespace, POOL);
  const before = podProblems.get(namespace);
  if (pool === undefined || isComplete(pool)) {
    podProblems.delete(namespace);
    return { isComplete: pool !== undefined, isNews: false };
  }
  const labelSelector = Object.entries(POOL_LABELS)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  try {
    const { items } = await client.list(pods, { namespace, labelSelector, resourceVersion: '0' });
    const found = podProblem(items);
    if (found === undefined) podProblems.delete(namespace);
    else podProblems.set(namespace, { generation: pool.metadata.generation, ...found });
    return { isComplete: false, isNews: before?.message !== found?.message };
  } catch (error) {
    log.warn({ namespace, err: error }, 'cannot list the runner pods');
    return { isComplete: false, isNews: false };
  }
}
