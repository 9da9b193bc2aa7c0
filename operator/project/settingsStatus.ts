/** Says of the ProjectSettings of a namespace whether they are in effect, and what the installation does not admit. */
import type { Reason } from '../../api/conditions.ts';
import type { ProjectSettings } from '../../api/kinds.ts';
import type { ProjectSettingsStatus } from '../../api/projectSettings.ts';
import { canonicalJson } from '../../kube/json.ts';
import { findCondition, removeCondition, setCondition } from '../../kube/conditions.ts';
import { done, type Action, type Key } from '../../kube/controller.ts';
import type { Condition, ConditionStatus } from '../../kube/resource.ts';
import type { OperatorContext } from '../context.ts';
import { projectSettings } from '../resources.ts';
import { needsPool } from './gather.ts';
import type { PoolRefusal } from './readiness.ts';
import { admit } from './settings.ts';

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
};

/** What of the pool the status says, and is true until this process has applied the settings itself. */
const OF_POOL: ReadonlySet<string> = new Set<Reason>([
  'SettingsApplied',
  'SettingsInvalid',
  'Unauthorized',
  'PoolInvalid',
]);
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

function readiness({ refusals, hasPool, pool }: SettingsFacts): Said {
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
    ? { status: 'True', reason: 'SettingsApplied', message: 'The settings are in effect.' }
    : { status: 'Unknown', reason: 'Pending', message: 'The runner pool does not have these settings yet.' };
}

/** Writes the status of the settings of that namespace, if it changes. */
export async function reconcileSettings(context: OperatorContext, { namespace, name }: Key): Promise<Action> {
  const { world, client } = context;
  const settings = await world.settings.getFresh(namespace, name);
  if (!settings || settings.metadata.deletionTimestamp !== undefined) return done();
  const status = statusOf(context, settings);
  if (canonicalJson(settings.status) === canonicalJson(status)) return done();
  const { uid } = settings.metadata;
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  world.settings.noteWrite(
    await client.apply(projectSettings, { metadata, status }, { subresource: 'status' }),
  );
  return done();
}

function statusOf(
  { world, config, clock, appliedSettings }: OperatorContext,
  { metadata, spec, status }: ProjectSettings,
): ProjectSettingsStatus {
  const { namespace = '', uid, generation = 0 } = metadata;
  const applied = appliedSettings.get(namespace);
  const isCurrent = applied?.uid === uid && applied?.generation === generation;
  const facts = {
    generation,
    refusals: admit(spec, config.PROJECT_SETTINGS_BOUNDS).refusals,
    hasPool: needsPool(world, namespace),
    pool: isCurrent ? applied : undefined,
  };
  const conditions = settingsConditions(facts, status?.conditions ?? [], clock.date());
  return { observedGeneration: generation, conditions: [...conditions] };
}
