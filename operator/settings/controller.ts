/**
 * Reports whether the ProjectSettings of a namespace are in effect, and which of them the installation does
 * not admit.
 */
import type { ProjectSettings } from '../../api/kinds.ts';
import type { ProjectSettingsStatus } from '../../api/projectSettings.ts';
import { findCondition } from '../../kube/conditions.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import type { Pools } from '../pods/pools.ts';
import { changesRollout, rolloutOf } from '../pods/rollout.ts';
import { admit, withSettings } from '../pods/settings.ts';
import { needsPool } from '../project/needs.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, subscribe, watch, type Controller } from '../shared/controller.ts';
import { POOL } from '../shared/names.ts';
import { writeStatus } from '../shared/status.ts';
import { settingsConditions } from './conditions.ts';

/** A rollout that does not progress is detected by its age. */
const AGAIN_MS = 30_000;

type SettingsContext = OperatorContext & {
  pools: Pick<Pools, 'appliedSettings' | 'podProblems' | 'settingsChanged'>;
};

export const settingsController: Controller<SettingsContext> = {
  name: 'settings',
  concurrency: 2,
  watches: [
    watch(({ settings }) => settings, ifSpecChanged()),
    watch(
      ({ deployments }) => deployments,
      ({ metadata }, change, { settings }) =>
        change.type !== 'updated' || changesRollout(change.old, change.object)
          ? settings.list(metadata.namespace).map(keyOf)
          : [],
    ),
    subscribe(
      ({ pools }: SettingsContext) => pools.settingsChanged,
      (namespace, { settings }) => settings.list(namespace).map(keyOf),
    ),
  ],
  reconcile: reconcileSettings,
};

/** Writes whether the settings are in effect, and which of them the installation does not admit. */
async function reconcileSettings({ namespace, name }: Key, context: SettingsContext): Promise<Action> {
  const { caches } = context;
  const settings = await caches.settings.getFresh(namespace, name);
  if (!settings || settings.metadata.deletionTimestamp !== undefined) return done();
  const status = statusOf(context, settings);
  await writeStatus(context, caches.settings, settings, status);
  return findCondition(status.conditions, 'Ready')?.reason === 'RollingOut' ? after(AGAIN_MS) : done();
}

function statusOf(
  { caches, config, clock, pools }: SettingsContext,
  { metadata, spec, status }: ProjectSettings,
): ProjectSettingsStatus {
  const { namespace = '', uid, generation = 0 } = metadata;
  const applied = pools.appliedSettings.get(namespace);
  const isCurrent = applied?.uid === uid && applied?.generation === generation;
  const facts = {
    generation,
    refusals: admit(spec, config.PROJECT_SETTINGS_BOUNDS).refusals,
    hasPool: needsPool(caches, namespace),
    pool: isCurrent ? applied : undefined,
    rollout: rolloutOf(
      caches.deployments.get(namespace, POOL),
      pools.podProblems.get(namespace),
      clock.date(),
    ),
  };
  const conditions = settingsConditions(facts, status?.conditions ?? [], clock.date());
  const { RUNNER_REPLICAS: replicas } = withSettings(config, spec);
  return { observedGeneration: generation, replicas, conditions: [...conditions] };
}
