/** A server of the demo's image that a test starts for itself, beside those that are always there. */
import { stringify } from 'yaml';
import { applyManifest, demoNamespace } from './install.ts';
import { getJson, kubectl, type ClusterAccess } from '../cluster/kubectl.ts';

export type DemoServer = {
  /** Of Deployment and Service. */
  name: string;
  /** The program in the image, without its ending. */
  program: string;
  port: number;
  env?: Record<string, string>;
  /** What answers with 200 once it is ready. */
  readyPath: string;
};

/** Starts it and waits until it is ready. Steps may connect to it where `demoHosts` names it. */
export async function startDemoServer(cluster: ClusterAccess, server: DemoServer): Promise<void> {
  await applyManifest(cluster, await manifestOf(cluster, server));
  const rollout = ['rollout', 'status', '-n', demoNamespace, `deployment/${server.name}`, '--timeout=150s'];
  await kubectl(cluster, rollout, { timeoutMs: 170_000 });
}

/** Begins to remove it. */
export async function stopDemoServer(cluster: ClusterAccess, name: string): Promise<void> {
  const objects = [`deployment/${name}`, `service/${name}`];
  await kubectl(cluster, ['delete', '-n', demoNamespace, ...objects, '--wait=false']);
}

type Deployment = { spec: { template: { spec: { containers: { image: string }[] } } } };

async function manifestOf(
  cluster: ClusterAccess,
  { name, program, port, env = {}, readyPath }: DemoServer,
): Promise<string> {
  const model = await getJson<Deployment>(cluster, 'deployment/model', '-n', demoNamespace);
  const metadata = { name, namespace: demoNamespace };
  const labels = { app: name };
  const container = {
    name,
    image: model.spec.template.spec.containers[0]?.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', `/app/${program}.mjs`],
    env: Object.entries({ PORT: String(port), ...env }).map(([key, value]) => ({ name: key, value })),
    readinessProbe: { httpGet: { path: readyPath, port }, periodSeconds: 1 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
  const pod = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
  const ports = [{ name: 'http', port }];
  return [
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } },
  ]
    .map((object) => stringify(object))
    .join('---\n');
}
