/** Says of the ProjectSettings of a namespace whether they are in effect, and what the installation does not admit. */
import type { Reason } from '../../api/conditions.ts';
import type { ProjectSettings } from '../../api/kinds.ts';
import type { ProjectSettingsStatus } from '../../api/projectSettings.ts';
import { canonicalJson } from '../../kube/json.ts';
import { ended, findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import type { Condition, ConditionStatus } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { projectSettings } from '../shared/resources.ts';
import type { Recorder } from '../../kube/events.ts';
import { recordConditions } from '../shared/conditionEvents.ts';
import { needsPool } from '../project/needs.ts';
import { POOL } from '../shared/names.ts';
import type { PoolRefusal } from '../project/readiness.ts';
import { rolloutOf, type Rollout } from '../pods/rollout.ts';
import { admit, withSettings } from '../pods/settings.ts';

/** With which settings the objects of a pool were applied last. */
export type AppliedSettings = {
  uid: string | undefined;
  generation: number | undefined;
  /** Why the API server refuses pods with them, in its words. */
  refused?: string;
  /** Why the operator cannot write the pool, whatever the settings say. */
  blocked?: PoolRefusal;
};

export type SettingsFacts = {
  generation: number;
  /** What the installation does not admit, a sentence each. */
  refusals: readonly string[];
  /** Whether the project has a runner pool. */
  hasPool: boolean;
  /** Of this generation of the settings; undefined: this process has not applied them yet. */
  pool: Pick<AppliedSettings, 'refused' | 'blocked'> | undefined;
  rollout: Rollout;
};

/** What of the pool the status says, and is true until this process has applied the settings itself. */
const OF_POOL: ReadonlySet<string> = new Set<Reason>([
  'SettingsApplied',
  'RollingOut',
  'PodsRefused',
  'PodsNotReady',
  'SettingsInvalid',
  'Unauthorized',
  'PoolInvalid',
]);
/** A rollout that does not progress is noticed by its age. */
const AGAIN_MS = 30_000;
const STALLED: ReadonlySet<string> = new Set<Reason>(['SettingsNotAdmitted', 'SettingsInvalid']);

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

/** Whether an operator before this one has said of these very settings what this one does not know yet. */
function isKnown(
  { generation, refusals, hasPool, pool }: SettingsFacts,
  before: readonly Condition[],
): boolean {
  const { observedGeneration, reason = '' } = findCondition(before, 'Ready') ?? {};
  const isOpen = pool === undefined && hasPool && refusals.length === 0;
  return isOpen && observedGeneration === generation && OF_POOL.has(reason);
}

type Said = { status: ConditionStatus; reason: Reason; message: string };

function readiness({ refusals, hasPool, pool, rollout }: SettingsFacts): Said {
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
  return pool
    ? rolledOut(rollout)
    : { status: 'Unknown', reason: 'Pending', message: 'The runner pool does not have these settings yet.' };
}

function rolledOut(rollout: Rollout): Said {
  switch (rollout.kind) {
    case 'Complete':
      return { status: 'True', reason: 'SettingsApplied', message: 'The settings are in effect.' };
    case 'RollingOut': {
      const { message = 'The pods of the runners are being replaced.' } = rollout;
      return {
        status: 'Unknown',
        reason: 'RollingOut',
        message: `Not every runner has these settings yet. ${message}`,
      };
    }
    case 'Blocked': {
      const message = `Runners with these settings do not start, and runners from before go on: ${ended(rollout.message)} Correct the settings, or what the message names. Look at the pods: kubectl describe pods -l app.kubernetes.io/name=${POOL}`;
      return { status: 'False', reason: rollout.reason, message };
    }
  }
}

/** Writes the status of the settings of that namespace, if it changes. */
export async function reconcileSettings(
  context: OperatorContext,
  events: Pick<Recorder, 'record'>,
  { namespace, name }: Key,
): Promise<Action> {
  const { caches, client } = context;
  const settings = await caches.settings.getFresh(namespace, name);
  if (!settings || settings.metadata.deletionTimestamp !== undefined) return done();
  const status = statusOf(context, settings);
  const again = findCondition(status.conditions, 'Ready')?.reason === 'RollingOut' ? after(AGAIN_MS) : done();
  if (canonicalJson(settings.status) === canonicalJson(status)) return again;
  const { uid } = settings.metadata;
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  caches.settings.noteWrite(
    await client.apply(projectSettings, { metadata, status }, { subresource: 'status' }),
  );
  recordConditions(events, settings, settings.status?.conditions ?? [], status.conditions);
  return again;
}

function statusOf(
  { caches, config, clock, appliedSettings, podProblems }: OperatorContext,
  { metadata, spec, status }: ProjectSettings,
): ProjectSettingsStatus {
  const { namespace = '', uid, generation = 0 } = metadata;
  const applied = appliedSettings.get(namespace);
  const isCurrent = applied?.uid === uid && applied?.generation === generation;
  const facts = {
    generation,
    refusals: admit(spec, config.PROJECT_SETTINGS_BOUNDS).refusals,
    hasPool: needsPool(caches, namespace),
    pool: isCurrent ? applied : undefined,
    rollout: rolloutOf(caches.deployments.get(namespace, POOL), podProblems.get(namespace), clock.date()),
  };
  const conditions = settingsConditions(facts, status?.conditions ?? [], clock.date());
  const { RUNNER_REPLICAS: replicas } = withSettings(config, spec);
  return { observedGeneration: generation, replicas, conditions: [...conditions] };
}
