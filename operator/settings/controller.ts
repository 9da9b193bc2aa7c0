/**
 * Reports whether the ProjectSettings of a namespace are in effect, and which of them the installation does
 * not admit.
 */
import type { ProjectSettings } from '../../api/kinds.ts';
import type { ProjectSettingsStatus } from '../../api/projectSettings.ts';
import { findCondition } from '../../kube/conditions.ts';
import { after, done, keyOf, type Action, type Key } from '../../kube/controller.ts';
import { hasRunner, type Pools } from '../pods/pools.ts';
import { isObserved, rolloutOf, type Rollout } from '../pods/rollout.ts';
import { leastRunners, scalingOf, sleepAfterOf, type Scaling } from '../pods/scaling.ts';
import { refusalsOf, withSettings } from '../pods/settings.ts';
import { needsPool } from '../project/needs.ts';
import { changesPool } from '../project/readiness.ts';
import { scalingProblemOf } from '../scaling/problem.ts';
import type { ScalingState } from '../scaling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { ifSpecChanged, subscribe, watch, type Controller } from '../shared/controller.ts';
import { POOL } from '../shared/names.ts';
import { writeStatus } from '../shared/status.ts';
import { isAsleep } from '../scaling/asleep.ts';
import { settingsConditions } from './conditions.ts';

/** A rollout that does not progress is detected by its age. */
const AGAIN_MS = 30_000;
/** How soon the controller of Deployments has seen a change, usually. */
const UNOBSERVED_MS = 1_000;

type SettingsContext = OperatorContext & {
  pools: Pick<Pools, 'appliedSettings' | 'podProblems' | 'settingsChanged'>;
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'otherScalers' | 'refusals' | 'otherScalersChanged'>;
};

export const settingsController: Controller<SettingsContext> = {
  name: 'settings',
  concurrency: 2,
  watches: [
    watch(({ settings }) => settings, ifSpecChanged()),
    watch(
      ({ deployments }) => deployments,
      ({ metadata }, change, { settings }) =>
        change.type !== 'updated' ||
        change.old.spec?.replicas !== change.object.spec?.replicas ||
        changesPool(change.old, change.object)
          ? settings.list(metadata.namespace).map(keyOf)
          : [],
    ),
    subscribe(
      ({ pools }: SettingsContext) => pools.settingsChanged,
      (namespace, { settings }) => settings.list(namespace).map(keyOf),
    ),
    subscribe(
      ({ scaling }: SettingsContext) => scaling.otherScalersChanged,
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
  if (isScaling(context, settings)) return after(UNOBSERVED_MS);
  const status = statusOf(context, settings);
  await writeStatus(context, caches.settings, settings, status);
  return findCondition(status.conditions, 'Ready')?.reason === 'RollingOut' ? after(AGAIN_MS) : done();
}

/**
 * Whether the Deployment is of another size since a moment. Each change of the size would otherwise make the
 * settings `Unknown` for that moment, and cause an Event.
 */
function isScaling(
  { caches, config }: SettingsContext,
  { metadata, spec, status }: ProjectSettings,
): boolean {
  const pool = caches.deployments.get(metadata.namespace, POOL);
  const ready = findCondition(status?.conditions, 'Ready');
  const isInEffect = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  const project = withSettings(config, spec);
  const isScaled = scalingOf(project).engine !== 'Fixed' || sleepAfterOf(project) > 0;
  return isInEffect && isScaled && pool !== undefined && !isObserved(pool);
}

/** While a project wakes, its missing runner does not count as a rollout of the settings. */
function expectedRollout(rollout: Rollout, isWaking: boolean): Rollout {
  return isWaking && rollout.kind === 'RollingOut' ? { kind: 'Complete' } : rollout;
}

/** The replicas that the settings ask for; those that there are where these follow the backlog. */
function wanted(scaling: Scaling, current: number): number {
  return scaling.engine === 'Fixed' ? scaling.replicas : current;
}

function statusOf(
  { caches, config, clock, pools, scaling: state }: SettingsContext,
  { metadata, spec, status }: ProjectSettings,
): ProjectSettingsStatus {
  const { namespace = '', uid, generation = 0 } = metadata;
  const applied = pools.appliedSettings.get(namespace);
  const isCurrent = applied?.uid === uid && applied?.generation === generation;
  const pool = caches.deployments.get(namespace, POOL);
  const scaling = scalingOf(withSettings(config, spec));
  const least = leastRunners(scaling);
  const sleeps = isAsleep({ caches, config, scaling: state }, namespace);
  const facts = {
    generation,
    refusals: refusalsOf(config, spec),
    hasPool: needsPool(caches, namespace),
    hasRunner: hasRunner(pool),
    isAsleep: sleeps,
    pool: isCurrent ? applied : undefined,
    scaling: state.otherScalers ? scalingProblemOf(state, namespace, scaling.engine) : ('Unknown' as const),
    rollout: expectedRollout(
      rolloutOf(pool, pools.podProblems.get(namespace), clock.date(), least),
      state.waking.has(namespace),
    ),
  };
  const conditions = settingsConditions(facts, status?.conditions ?? [], clock.date());
  const current = pool?.spec?.replicas ?? least ?? 1;
  const replicas = sleeps ? 0 : wanted(scaling, current);
  return { observedGeneration: generation, replicas, conditions: [...conditions] };
}
