/**
 * The common part of all pods of a project: service account, placement and a restricted security context.
 * Pure.
 */
import { POOL, POOL_LABELS } from '../shared/names.ts';
import type { Placement } from './placement.ts';
import type { ProjectConfig } from './settings.ts';

const USER = 65_532;

/** The common fields of a pod spec. */
export function restrictedPod({
  RUNNER_IMAGE_PULL_SECRETS: secrets,
  placement,
}: Pick<ProjectConfig, 'RUNNER_IMAGE_PULL_SECRETS' | 'placement'>) {
  return {
    serviceAccountName: POOL,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...placed(placement),
    // The API server drops an empty list, which would look like a change each time.
    ...(secrets.length > 0 && { imagePullSecrets: secrets.map((name) => ({ name })) }),
  };
}

/** The `securityContext` of each container. */
export const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** For short-lived pods: pod affinity does not apply to them. */
function placed({ nodeSelector, tolerations, affinity, priorityClassName }: Placement) {
  return {
    ...(nodeSelector && Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(affinity?.nodeAffinity && { affinity: { nodeAffinity: affinity.nodeAffinity } }),
  };
}

const APART = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    {
      weight: 100,
      podAffinityTerm: {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: { ...POOL_LABELS } },
        // Of one revision: while pods of the former one are on all nodes, the new ones could share a node.
        matchLabelKeys: ['pod-template-hash'],
      },
    },
  ],
};

/** The taints of a node that does not report, or reports that it is not ready. */
const LOST_NODE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * For runners: preferably on different nodes, unless the settings say otherwise, and replaced so many seconds
 * after their node is lost, unless they tolerate that.
 */
export function placedRunner({
  placement,
  RUNNER_LOST_NODE_SECONDS: tolerationSeconds,
}: Pick<ProjectConfig, 'placement' | 'RUNNER_LOST_NODE_SECONDS'>) {
  const known = placement.tolerations ?? [];
  const added = LOST_NODE.filter((lost) => known.every(({ key }) => key !== lost && key !== undefined));
  const effect = 'NoExecute' as const;
  const tolerations = [
    ...known,
    ...added.map((key) => ({ key, operator: 'Exists' as const, effect, tolerationSeconds })),
  ];
  const affinity = { podAntiAffinity: APART, ...placement.affinity };
  return { ...placed(placement), ...(tolerations.length > 0 && { tolerations }), affinity };
}
