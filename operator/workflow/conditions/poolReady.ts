/** The condition `PoolReady`. Pure. */
import type { Reason } from '../../../api/conditions.ts';
import { ended } from '../../../kube/conditions.ts';
import type { PoolState } from '../../project/readiness.ts';
import type { Facts, Update } from './facts.ts';

const DESCRIBE_PODS = 'kubectl describe pods -l app.kubernetes.io/name=windlass-runner';

export function poolReady({ pool, violations }: Facts): Update {
  const type = 'PoolReady';
  switch (pool.kind) {
    case 'Ready':
      return { type, status: 'True', reason: 'PoolReady', message: readyMessage(pool) };
    case 'Asleep':
      return { type, status: 'True', reason: 'PoolAsleep', message: asleepMessage(pool) };
    case 'Absent':
      return { type, ...notStarted(violations.length > 0) };
    case 'Refused':
      return { type, status: 'False', reason: pool.reason, message: pool.message };
    case 'Blocked':
      return { type, status: 'False', reason: pool.reason, message: blockedMessage(pool) };
    case 'Starting': {
      const hint = pool.message ?? 'If this lasts: kubectl describe deployment windlass-runner';
      const message = `No runner of this namespace is ready yet. ${hint}`;
      return { type, status: 'False', reason: 'PoolStarting', message };
    }
  }
}

function readyMessage({ newer, scaling }: Extract<PoolState, { kind: 'Ready' }>): string {
  const sentences = [
    'A runner is ready.',
    ...(newer === undefined
      ? []
      : [`Newer runners cannot start: ${ended(newer)} Inspect them: ${DESCRIBE_PODS}`]),
    ...(scaling === undefined ? [] : [scaling]),
  ];
  return sentences.join(' ');
}

function asleepMessage({ isWaking, message }: Extract<PoolState, { kind: 'Asleep' }>): string {
  if (isWaking)
    return ['The runners wake: their pods start.', ...(message ? [ended(message)] : [])].join(' ');
  return 'The runners sleep, because the project has no work. The next event, or the end of the next wait, wakes them.';
}

function notStarted(isInvalid: boolean): Pick<Update, 'status' | 'reason' | 'message'> {
  const message = isInvalid
    ? 'The runner pool starts when a workflow of this namespace is valid. Correct the spec: see the condition Valid.'
    : 'The runner pool starts when the spec is in effect: see the condition Routed.';
  return { status: 'Unknown', reason: 'PoolNotStarted', message };
}

type Blocked = Extract<PoolState, { kind: 'Blocked' }>;

function blockedMessage({ reason, message }: Blocked): string {
  return reason === 'PodsRefused'
    ? `The pods of the runners are refused: ${ended(message)} Change the named ResourceQuota, LimitRange or policy, or the resources of runners (runners.resources in ProjectSettings, or runner.resources of the chart).`
    : `The pods of the runners do not become ready: ${ended(message)} Inspect them: ${DESCRIBE_PODS}`;
}

/** Why no run can be executed until a person acts. */
export function blockedReason(pool: PoolState): Reason | undefined {
  if (pool.kind === 'Blocked') return pool.reason;
  return pool.kind === 'Refused' && !pool.hasRunner ? pool.reason : undefined;
}
