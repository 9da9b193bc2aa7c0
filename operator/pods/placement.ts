/**
 * The placement of a project's pods that the installation admits: the nodes they may select and the taints
 * they may tolerate.
 */
import type { ProjectSettingsSpec } from '../../api/projectSettings.ts';
import type { OperatorConfig } from '../shared/config.ts';

/** Where the pods of a project may run. */
export type Placement = Pick<
  NonNullable<ProjectSettingsSpec['runners']>,
  'nodeSelector' | 'tolerations' | 'affinity' | 'priorityClassName'
>;

type Bounds = Pick<OperatorConfig['PROJECT_SETTINGS_BOUNDS'], 'tolerationKeys' | 'nodeSelectorKeys'>;

/**
 * Returns `isWithin`, and records a refusal if it is false: the field, what it would do, and the value of the
 * chart.
 */
type Judge = (isWithin: boolean, field: string, act: string, value: keyof Bounds) => boolean;

/** The placement reduced to what the installation admits. Pure but for what `judge` records. */
export function placementWithin(
  { nodeSelector, tolerations, affinity, ...others }: Placement,
  { tolerationKeys, nodeSelectorKeys }: Bounds,
  judge: Judge,
): Placement {
  const maySelect = (field: string) => (key: string) =>
    judge(nodeSelectorKeys.includes(key), field, `select nodes by ${key}`, 'nodeSelectorKeys');
  const labels = Object.entries(nodeSelector ?? {}).filter(([key]) => maySelect('nodeSelector')(key));
  const tolerated = (tolerations ?? []).filter(({ key }) => {
    const isWithin = key !== undefined && tolerationKeys.includes(key);
    return judge(isWithin, 'tolerations', `tolerate ${key ?? 'all taints'}`, 'tolerationKeys');
  });
  const { nodeAffinity, ...besidePods } = affinity ?? {};
  const refused = [...new Set(keysOf(nodeAffinity))].filter(
    (key) => !maySelect('affinity.nodeAffinity')(key),
  );
  const near = { ...besidePods, ...(nodeAffinity && refused.length === 0 && { nodeAffinity }) };
  return {
    ...others,
    ...(labels.length > 0 && { nodeSelector: Object.fromEntries(labels) }),
    ...(tolerated.length > 0 && { tolerations: tolerated }),
    ...(Object.keys(near).length > 0 && { affinity: near }),
  };
}

/** The node labels that it names. */
function keysOf(nodeAffinity: NonNullable<Placement['affinity']>['nodeAffinity']): string[] {
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms = [...required, ...preferred.map(({ preference }) => preference)];
  return terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key));
}
