/**
 * The systems outside of the fault tests: a mail server, a model and an HTTP service in one pod, with ports
 * of the node.
 */
import { stringify } from 'yaml';
import { applyManifest, demoNamespace } from '../support/installation/install.ts';
import { getJson, kubectl, type ClusterAccess } from '../support/cluster/kubectl.ts';
import type { SinkURLs } from './effects.ts';
import type { SinkHosts } from './workflows.ts';

const PORTS = { smtp: 2525, mail: 8025, model: 8080, http: 8081 };

const namespace = 'windlass-sinks';

const host = `sinks.${namespace}.svc`;

/** Where steps in the cluster reach them. */
export const SINK_HOSTS: SinkHosts = {
  mail: `${host}:${PORTS.smtp}`,
  model: `${host}:${PORTS.model}`,
  http: `${host}:${PORTS.http}`,
};

/** What the chart's `runner.egress.allow` must have, so that steps may connect to them. */
export const SINK_ADDRESSES = Object.values(SINK_HOSTS);

/** Starts them, unless they run; returns when they answer. They remember what they have seen before. */
export async function startSinks(cluster: ClusterAccess): Promise<SinkURLs> {
  const image = await demoImage(cluster);
  await applyManifest(cluster, manifest(image));
  await kubectl(cluster, ['rollout', 'status', '-n', namespace, 'deployment/sinks', '--timeout=60s'], {
    timeoutMs: 70_000,
  });
  const service = await getJson<{ spec: { ports: { name: string; nodePort: number }[] } }>(
    cluster,
    'service',
    'sinks',
    '-n',
    namespace,
  );
  const url = (name: string) => {
    const port = service.spec.ports.find((each) => each.name === name)?.nodePort;
    return `http://127.0.0.1:${port}`;
  };
  return { mail: url('mail'), model: url('model'), http: url('http') };
}

/** The image that the demo's servers run from has these programs too. */
async function demoImage(cluster: ClusterAccess): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  return kubectl(cluster, ['get', '-n', demoNamespace, 'deployment/model', '-o', path]);
}

function manifest(image: string): string {
  const labels = { app: 'sinks' };
  const metadata = { name: 'sinks', namespace };
  const container = (name: string, program: string, ports: number[], env: Record<string, string>) => ({
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', `/app/${program}.mjs`],
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
    ports: ports.map((containerPort) => ({ containerPort })),
    readinessProbe: { httpGet: { path: '/healthz', port: ports[0] }, periodSeconds: 1 },
    resources: { requests: { cpu: '100m', memory: '48Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  });
  const { smtp, mail, model, http } = PORTS;
  const containers = [
    container('mail', 'mail-server', [mail, smtp], { SMTP_PORT: `${smtp}`, HTTP_PORT: `${mail}` }),
    container('model', 'model-server', [model], { PORT: `${model}`, DELAY_MS: '20' }),
    container('http', 'http-sink', [http], { PORT: `${http}` }),
  ];
  const pod = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers,
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      type: 'NodePort',
      // A busy machine is late with its probes: the sinks are not what is tested.
      publishNotReadyAddresses: true,
      selector: labels,
      ports: Object.entries(PORTS).map(([name, port]) => ({ name, port })),
    },
  };
  const space = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  };
  return [space, deployment, service].map((object) => stringify(object)).join('---\n');
}
