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
      },
    },
  ],
};

/** For runners: preferably on different nodes, unless the settings say otherwise. */
export function placedRunner(placement: Placement) {
  return { ...placed(placement), affinity: { podAntiAffinity: APART, ...placement.affinity } };
}
