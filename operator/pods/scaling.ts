/** How many runners a project has, and who decides it. Pure but for reading caches. */
import type { Caches } from '../shared/caches.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { settingsOf } from '../shared/projectSettings.ts';
import { withSettings, type ProjectConfig } from './settings.ts';

/** The bounds of an engine that follows the backlog. */
export type ScalingBounds = { min: number; max: number; targetBacklogSeconds: number };

export type Scaling =
  | { engine: 'Fixed'; replicas: number }
  | ({ engine: 'Builtin' | 'KEDA' } & ScalingBounds)
  /** Somebody else sets the number. */
  | { engine: 'External' };

type ScalingConfig = Pick<ProjectConfig, 'RUNNER_REPLICAS' | 'RUNNER_AUTOSCALING'>;

const TARGET_BACKLOG_SECONDS = 30;

/** The scaling of a project, with its defaults. */
export function scalingOf({ RUNNER_REPLICAS: replicas, RUNNER_AUTOSCALING: spec }: ScalingConfig): Scaling {
  if (spec === undefined) return { engine: 'Fixed', replicas };
  const { engine, min = 1, max = min, targetBacklogSeconds = TARGET_BACKLOG_SECONDS } = spec;
  return engine === 'External' ? { engine } : { engine, min, max, targetBacklogSeconds };
}

/**
 * After how many milliseconds without work the runners of a project sleep; 0: never. KEDA and others set the
 * number of runners themselves, and would wake them.
 */
export function sleepAfterOf(config: ScalingConfig & Pick<ProjectConfig, 'RUNNER_SLEEP_AFTER'>): number {
  const { engine } = scalingOf(config);
  return engine === 'Fixed' || engine === 'Builtin' ? config.RUNNER_SLEEP_AFTER : 0;
}

/** The same of the project in this namespace. It is read often, and most projects have no settings. */
export function projectSleepAfter(
  { config, caches }: { config: OperatorConfig; caches: Pick<Caches, 'settings'> },
  namespace: string,
): number {
  const settings = settingsOf(caches, namespace)?.spec;
  return sleepAfterOf(settings === undefined ? config : withSettings(config, settings));
}

/** The scaling of the project in this namespace. It is read often, and most projects have no settings. */
export function projectScaling(
  { config, caches }: { config: OperatorConfig; caches: Pick<Caches, 'settings'> },
  namespace: string,
): Scaling {
  const settings = settingsOf(caches, namespace)?.spec;
  return scalingOf(settings === undefined ? config : withSettings(config, settings));
}

/** The value within the bounds. */
export function clamp(value: number, { min, max }: Pick<ScalingBounds, 'min' | 'max'>): number {
  return Math.min(max, Math.max(min, value));
}

/**
 * The least number of runners with which a pool is complete; undefined: as many as its Deployment asks for.
 */
export function leastRunners(scaling: Scaling): number | undefined {
  if (scaling.engine === 'Fixed') return undefined;
  return scaling.engine === 'External' ? 1 : scaling.min;
}

/** Whether the project may have several runners. */
export function mayHaveSeveral(scaling: Scaling): boolean {
  if (scaling.engine === 'External') return true;
  return (scaling.engine === 'Fixed' ? scaling.replicas : scaling.max) > 1;
}
