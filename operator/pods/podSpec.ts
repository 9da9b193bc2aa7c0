/** What the pods of a project have in common, whatever they do: its account, where they run, and no more rights on their node than they need. */
import { POOL } from '../shared/names.ts';
import { placed } from '../project/placement.ts';
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
