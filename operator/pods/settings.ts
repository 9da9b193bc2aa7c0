/**
 * The operator's configuration for one project: that of the installation, changed by the ProjectSettings of
 * the namespace.
 */
import type { Deployment } from '../../kube/resource.ts';
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { AutoscalingSpec } from '../../api/autoscaling.ts';
import type { ProjectSettingsSpec } from '../../api/projectSettings.ts';
import type { OperatorConfig } from '../shared/config.ts';
import { settingsOf } from '../shared/projectSettings.ts';
import type { Caches } from '../shared/caches.ts';
import { placementWithin, type Placement } from './placement.ts';

export type ProjectConfig = OperatorConfig & {
  placement: Placement;
  /** Of the service account of runners. */
  serviceAccountAnnotations: Record<string, string>;
};

/** The settings that the installation admits, and a sentence for each that it does not. */
type Admitted = { spec: ProjectSettingsSpec; refusals: string[] };

/**
 * The settings that take effect. For a setting that the installation does not admit, the value of the
 * installation applies. Pure.
 */
export function admit(
  spec: ProjectSettingsSpec,
  bounds: OperatorConfig['PROJECT_SETTINGS_BOUNDS'],
): Admitted {
  const refusals: string[] = [];
  const isAdmitted = (isWithin: boolean, refusal: string): boolean => {
    if (!isWithin) refusals.push(refusal);
    return isWithin;
  };
  const { replicas, autoscaling, sleepAfter, priorityClassName, serviceAccountAnnotations, ...others } =
    spec.runners ?? {};
  const allow = (spec.egress?.allow ?? []).filter((entry) =>
    isAdmitted(
      bounds.egressAllow.includes(entry),
      `egress.allow: the installation does not let projects add ${entry}${listed('projectSettings.egress.allow', bounds.egressAllow)}`,
    ),
  );
  const annotations = Object.entries(serviceAccountAnnotations ?? {}).filter(([key]) =>
    isAdmitted(
      bounds.serviceAccountAnnotations.includes(key),
      `runners.serviceAccountAnnotations: the installation does not let projects set ${key}${listed('projectSettings.serviceAccountAnnotations', bounds.serviceAccountAnnotations)}`,
    ),
  );
  const hasReplicas =
    replicas !== undefined &&
    isAdmitted(
      replicas <= bounds.maxReplicas,
      `runners.replicas: the installation lets a project have at most ${bounds.maxReplicas} runners (projectSettings.maxReplicas)`,
    );
  const refusedScaling = autoscaling === undefined ? [] : scalingRefusals(autoscaling, bounds);
  refusals.push(...refusedScaling);
  const hasAutoscaling = autoscaling !== undefined && refusedScaling.length === 0;
  const hasPriority =
    priorityClassName !== undefined &&
    isAdmitted(
      bounds.priorityClassNames.includes(priorityClassName),
      `runners.priorityClassName: the installation does not let projects use ${priorityClassName}${listed('projectSettings.priorityClassNames', bounds.priorityClassNames)}`,
    );
  const { resources, ...wanted } = others;
  const placement = placementWithin(wanted, bounds, (isWithin, field, act, value) =>
    isAdmitted(
      isWithin,
      `runners.${field}: the installation does not let projects ${act}${listed(`projectSettings.${value}`, bounds[value])}`,
    ),
  );
  const runners = {
    ...(resources && { resources }),
    ...placement,
    ...(hasReplicas && { replicas }),
    ...(hasAutoscaling && { autoscaling }),
    ...(sleepAfter !== undefined && { sleepAfter }),
    ...(hasPriority && { priorityClassName }),
    serviceAccountAnnotations: Object.fromEntries(annotations),
  };
  return { spec: { ...spec, runners, egress: { allow } }, refusals };
}

/**
 * A sentence for each setting that the installation does not admit, or that has no effect beside its values.
 * Pure.
 */
export function refusalsOf(config: OperatorConfig, spec: ProjectSettingsSpec): string[] {
  const { refusals } = admit(spec, config.PROJECT_SETTINGS_BOUNDS);
  const { RUNNER_AUTOSCALING: scaling, RUNNER_SLEEP_AFTER: sleepAfterMs } = withSettings(config, spec);
  const isAsked = spec.runners?.sleepAfter !== undefined && sleepAfterMs > 0;
  if (!isAsked || scaling === undefined || scaling.engine === 'Builtin') return refusals;
  const refusal = `runners.sleepAfter: runners do not sleep with the engine ${scaling.engine} of the installation (runner.autoscaling.engine); set runners.replicas, or runners.autoscaling with the engine Builtin, as well`;
  return [...refusals, refusal];
}

function scalingRefusals(
  { engine, max = 0 }: AutoscalingSpec,
  { autoscalingEngines: engines, maxReplicas }: OperatorConfig['PROJECT_SETTINGS_BOUNDS'],
): string[] {
  return [
    ...(engines.includes(engine)
      ? []
      : [
          `runners.autoscaling.engine: the installation does not let projects choose ${engine}${listed('projectSettings.autoscalingEngines', engines)}`,
        ]),
    ...(max <= maxReplicas
      ? []
      : [
          `runners.autoscaling.max: the installation lets a project have at most ${maxReplicas} runners (projectSettings.maxReplicas)`,
        ]),
  ];
}

function listed(value: string, entries: readonly string[]): string {
  return entries.length === 0 ? ` (${value} is empty)` : ` (${value}: ${entries.join(', ')})`;
}

/** The configuration with the settings of a project. Pure. */
export function withSettings(config: OperatorConfig, settings: ProjectSettingsSpec = {}): ProjectConfig {
  const { runners = {}, egress } = admit(settings, config.PROJECT_SETTINGS_BOUNDS).spec;
  const {
    replicas,
    autoscaling,
    sleepAfter,
    resources,
    serviceAccountAnnotations = {},
    ...placement
  } = runners;
  const additions = egress?.allow ?? [];
  return {
    ...config,
    // Replicas of the project are fixed also where the installation scales.
    ...(replicas !== undefined && { RUNNER_REPLICAS: replicas, RUNNER_AUTOSCALING: undefined }),
    ...(autoscaling !== undefined && { RUNNER_AUTOSCALING: autoscaling }),
    ...(sleepAfter !== undefined && {
      RUNNER_SLEEP_AFTER: boundedDuration(sleepAfter, DURATION_BOUNDS.sleepAfter),
    }),
    ...(resources !== undefined && { RUNNER_RESOURCES: withoutEmpty(resources) }),
    RUNNER_EGRESS_ALLOW: [...new Set([...config.RUNNER_EGRESS_ALLOW, ...additions])],
    placement,
    serviceAccountAnnotations,
  };
}

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;

/**
 * The configuration while the API server refuses pods with the settings of a project: placement and resources
 * are those of `pod`, as far as the installation admits them, or without a pod those of the installation. All
 * other settings apply. Pure.
 */
export function withPodsOf(
  config: OperatorConfig,
  settings: ProjectSettingsSpec,
  pod: PodSpec | undefined,
): ProjectConfig {
  const { replicas, autoscaling, sleepAfter, resources, serviceAccountAnnotations } = settings.runners ?? {};
  const { nodeSelector, tolerations, affinity, priorityClassName, containers } = pod ?? {};
  const retained = {
    replicas,
    autoscaling,
    sleepAfter,
    serviceAccountAnnotations,
    nodeSelector,
    tolerations,
    affinity,
    priorityClassName,
    // Without resources in the settings, those of the installation apply, which may have changed.
    resources: resources && containers?.[0]?.resources,
  };
  const runners = Object.fromEntries(Object.entries(retained).filter(([, member]) => member !== undefined));
  return withSettings(config, { ...settings, runners });
}

function withoutEmpty({ requests, limits }: Resources): OperatorConfig['RUNNER_RESOURCES'] {
  return {
    ...(requests && { requests: withoutUndefined(requests) }),
    ...(limits && { limits: withoutUndefined(limits) }),
  };
}

type Resources = NonNullable<NonNullable<ProjectSettingsSpec['runners']>['resources']>;

function withoutUndefined(amounts: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== undefined)) as Record<
    string,
    string
  >;
}

/** The operator's configuration in this namespace. */
export function projectConfig(
  { config, caches }: { config: OperatorConfig; caches: Pick<Caches, 'settings'> },
  namespace: string,
): ProjectConfig {
  return withSettings(config, settingsOf(caches, namespace)?.spec);
}
