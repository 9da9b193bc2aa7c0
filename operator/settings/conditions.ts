/** The conditions of ProjectSettings. Pure. */
import type { Reason } from '../../api/conditions.ts';
import { ended, findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import type { Condition } from '../../kube/resource.ts';
import type { AppliedSettings } from '../pods/pools.ts';
import type { Rollout } from '../pods/rollout.ts';
import type { ScalingProblem } from '../scaling/problem.ts';
import { POOL } from '../shared/names.ts';
import type { Finding } from '../shared/status.ts';

export type SettingsFacts = {
  generation: number;
  /** A sentence for each setting that the installation does not admit. */
  refusals: readonly string[];
  /** Whether the project has a runner pool. */
  hasPool: boolean;
  /** Whether a runner is available, of whatever settings. */
  hasRunner: boolean;
  isAsleep: boolean;
  /** For this generation of the settings; undefined until this process has applied them. */
  pool: Pick<AppliedSettings, 'refused' | 'blocked'> | undefined;
  rollout: Rollout;
  /** What keeps the number of runners from being as it should; `Unknown` until this process has listed it. */
  scaling: ScalingProblem | 'Unknown' | undefined;
};

/** Reasons about the pool, which stay until this process has applied the settings itself. */
const OF_POOL: ReadonlySet<string> = new Set<Reason>([
  'SettingsApplied',
  'RollingOut',
  'PodsRefused',
  'PodsNotReady',
  'SettingsInvalid',
  'Unauthorized',
  'PoolInvalid',
  'ScalingConflict',
  'ScalerFailing',
]);
/** Reasons about the number of runners, which stay until this process knows what sets it. */
const OF_SCALING: ReadonlySet<string> = new Set<Reason>(['ScalingConflict', 'ScalerFailing']);
const STALLED: ReadonlySet<string> = new Set<Reason>([
  'SettingsNotAdmitted',
  'SettingsInvalid',
  'ScalingConflict',
]);

/** The conditions of the settings: `Ready`, and `Stalled` while only a change of the settings helps. Pure. */
export function settingsConditions(
  facts: SettingsFacts,
  before: readonly Condition[],
  now: Date,
): readonly Condition[] {
  if (isKnown(facts, before)) return before;
  const ready = readiness(facts);
  const update = { ...ready, observedGeneration: facts.generation };
  const list = setCondition(before, { type: 'Ready', ...update }, now);
  return STALLED.has(ready.reason)
    ? setCondition(list, { type: 'Stalled', ...update, status: 'True' }, now)
    : removeCondition(list, 'Stalled');
}

/** Whether an earlier operator reported a result for these settings that this one does not know yet. */
function isKnown(
  { generation, refusals, hasPool, pool, scaling }: SettingsFacts,
  before: readonly Condition[],
): boolean {
  const { observedGeneration, reason = '' } = findCondition(before, 'Ready') ?? {};
  if (!hasPool || refusals.length > 0 || observedGeneration !== generation) return false;
  return (pool === undefined && OF_POOL.has(reason)) || (scaling === 'Unknown' && OF_SCALING.has(reason));
}

function readiness(facts: SettingsFacts): Finding {
  const { refusals, hasPool, pool, scaling } = facts;
  if (pool?.blocked !== undefined) {
    const { reason, message } = pool.blocked;
    return { status: 'False', reason, message: `The settings may not be in effect. ${message}` };
  }
  if (pool?.refused !== undefined) {
    const message = `The API server, or a policy of the cluster, refuses pods with these settings. Placement and resources stay as they were until the settings are corrected; the others are in effect: ${pool.refused}`;
    return { status: 'False', reason: 'SettingsInvalid', message };
  }
  if (refusals.length > 0) {
    const message = `${refusals.join('; ')}. For these the values of the installation stay in effect; the other settings are applied.`;
    return { status: 'False', reason: 'SettingsNotAdmitted', message };
  }
  if (!hasPool) {
    const message =
      'The settings are valid. They take effect when the project gets runners, with its first workflow.';
    return { status: 'True', reason: 'Accepted', message };
  }
  if (pool && scaling !== undefined && scaling !== 'Unknown') return { status: 'False', ...scaling };
  return pool
    ? rolledOut(facts)
    : { status: 'Unknown', reason: 'Pending', message: 'The runner pool does not have these settings yet.' };
}

function rolledOut({ rollout, hasRunner, isAsleep }: SettingsFacts): Finding {
  switch (rollout.kind) {
    case 'Complete': {
      const sleep = isAsleep ? ' The runners sleep until there is work.' : '';
      return { status: 'True', reason: 'SettingsApplied', message: `The settings are in effect.${sleep}` };
    }
    case 'RollingOut': {
      const { message = 'The pods of the runners are being replaced.' } = rollout;
      return {
        status: 'Unknown',
        reason: 'RollingOut',
        message: `Not every runner has these settings yet. ${message}`,
      };
    }
    case 'Blocked': {
      const others = hasRunner ? 'runners from before go on' : 'no other runner is there, so that runs wait';
      const message = `Runners with these settings do not start, and ${others}: ${ended(rollout.message)} ${REMEDY[rollout.reason]}`;
      return { status: 'False', reason: rollout.reason, message };
    }
  }
}

const REMEDY = {
  PodsRefused: 'Change the named ResourceQuota, LimitRange or policy, or the settings.',
  PodsNotReady: `Correct the settings, or what the message names. Inspect the pods: kubectl describe pods -l app.kubernetes.io/name=${POOL}`,
} as const;
