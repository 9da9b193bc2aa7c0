/** The API server, the chart and the accounts that the tests of the programs' rights share. */
import type { KubeClient } from '../../../../kube/client.ts';
import type { ApiServer } from '../../../support/cluster/apiserver.ts';

export const SYSTEM = 'windlass-system';
export const PROJECT = 'shop';
/** The namespace into which the operator writes what its functions build. */
export const BOUNDED = 'office';
export const ROLE = 'eks.amazonaws.com/role-arn';
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export type AccountsHarness = {
  server: ApiServer;
  admin: KubeClient;
  /** With the operator's own token. */
  operator: KubeClient;
};

/** Every setting of the chart that changes what the operator writes. */
export const VALUES = {
  audit: { credentialUsesPerSecond: 10_000 },
  imagePullSecrets: ['registry'],
  redis: { tls: { enabled: true, secretName: 'redis-certificate' } },
  runner: {
    replicas: 3,
    autoscaling: { engine: 'KEDA', min: 2, max: 12 },
    resources: { limits: { memory: '1Gi', cpu: '2' } },
    env: { HTTPS_PROXY: 'http://proxy:3128', QUOTED: `it's "one" \\ {{ two }}\n`, EMPTY: '' },
    egress: { allow: ['10.20.0.0/16', 'model.models.svc:8080'], deny: ['203.0.113.0/24'] },
  },
  projectSettings: {
    maxReplicas: 12,
    egress: { allow: ['10.30.0.0/16', 'crm.office.svc:443'] },
    priorityClassNames: ['batch'],
    serviceAccountAnnotations: [ROLE],
    tolerationKeys: ['dedicated'],
    nodeSelectorKeys: ['pool', 'gpu'],
  },
};
