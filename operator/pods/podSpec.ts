/** What the pods of a project have in common, whatever they do: its account, where they run, and no more rights on their node than they need. */
import { POOL, POOL_LABELS } from '../shared/names.ts';
import type { Placement } from './placement.ts';
import type { ProjectConfig } from './settings.ts';

const USER = 65_532;

/** Of the pod. */
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
    // An empty list is not kept, and would look like a change each time.
    ...(secrets.length > 0 && { imagePullSecrets: secrets.map((name) => ({ name })) }),
  };
}

/** The `securityContext` of each container. */
export const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Of a pod that is no runner: beside which pods it runs does not matter, since it lives for moments. */
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

/** Of a runner: preferably on another node than the others of its project, unless the settings say something else. */
export function placedRunner(placement: Placement) {
  return { ...placed(placement), affinity: { podAntiAffinity: APART, ...placement.affinity } };
}
