/**
 * The built-in cluster itself: what pods find on it, and that it can be started, mended, resumed and removed.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { builtinProvider } from '../cluster/builtin/provider.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { runCommand } from '../support/process/command.ts';
import { getJson, kubectl } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import { quiet } from '../support/process/progress.ts';
import { kill, machineState, writeTestImage, type MachineState } from './machine.ts';

const reference = 'localhost/windlass-cluster/test:1';
const name = 'cluster-test';
const neighbour = 'cluster-test-2';
let first: Cluster;
let second: Cluster;
let folder: string;
let before: MachineState;

beforeAll(async () => {
  before = await machineState(name);
  folder = await mkdtemp(join(tmpdir(), 'windlass-cluster-test-'));
  const archive = await writeTestImage(folder, reference);
  first = await up(name);
  second = await up(neighbour);
  for (const cluster of [first, second]) {
    await cluster.loadImage(archive, reference);
    await kubectl(cluster, ['apply', '-f', '-'], { input: manifests(cluster) });
  }
  for (const cluster of [first, second]) await deploymentIsReady(cluster);
});

afterAll(async () => {
  for (const each of [name, neighbour]) await builtinProvider.down(each, quiet);
  await rm(folder, { recursive: true, force: true });
});

test('two clusters side by side have ports of 127.0.0.1 of their own, and each answers with its own pods', async () => {
  expect(await answerOf(first)).toMatchObject({ cluster: name });
  expect(await answerOf(second)).toMatchObject({ cluster: neighbour });
});

test('a pod that Pod Security calls restricted finds services by name, its claim on the disk, and no way out', async () => {
  expect(await answerOf(first)).toEqual({
    cluster: name,
    // The pod wrote its name there: through its own service, by name, and back from the disk.
    disk: name,
    service: name,
    apiServer: 200,
    outside: 'ENETUNREACH',
  });
});

test('kubectl exec, logs and port-forward work', async () => {
  const executed = await kubectl(first, ['exec', 'deployment/web', '--', 'node', '-p', '6 * 7']);
  expect(executed.trim()).toBe('42');
  expect(await kubectl(first, ['logs', 'deployment/web'])).toContain('listening');
  const proof = await runCommand('sh', ['-c', portForward, 'sh', join(first.binDir, 'kubectl')], {
    env: { ...process.env, KUBECONFIG: first.kubeconfigPath },
  });
  expect(JSON.parse(proof)).toMatchObject({ cluster: name });
});

test('up on a running cluster changes nothing', async () => {
  const known = await builtinProvider.status(name);
  await up(name);
  expect(await builtinProvider.status(name)).toEqual(known);
});

test('up starts again what has crashed, and leaves the pods alone', async () => {
  const pod = await podOf(first);
  await kill(`/kube-apiserver\0.*/${name}/`);
  await kill(`/containerd\0.*/${name}/`);
  await pollUntil('the end of both', async () => (await endedParts(name)).length === 2, {
    timeoutMs: 100_000,
  });
  expect(await endedParts(name)).toEqual(['containerd', 'kube-apiserver']);
  await up(name);
  expect(await endedParts(name)).toEqual([]);
  expect(await podOf(first)).toEqual(pod);
});

test('up resumes a cluster of which nothing runs any more, with its pods and their data', async () => {
  await kill(`^cluster-node\0init\0.*/${name}/node.json`);
  await pollUntil('its end', async () => (await endedParts(name)).includes('node'), { timeoutMs: 100_000 });
  first = await up(name);
  await deploymentIsReady(first);
  expect(await answerOf(first)).toMatchObject({ cluster: name, disk: name });
});

test('a claim that is deleted takes its data with it', async () => {
  const { spec } = await getJson<{ spec: { volumeName: string } }>(first, 'pvc', 'data');
  const volume = await getJson<{ spec: { hostPath: { path: string } } }>(first, 'pv', spec.volumeName);
  const parent = join(volume.spec.hostPath.path, '..');
  expect(await readdir(parent)).toContain(spec.volumeName);
  await kubectl(first, ['delete', 'deployment/web', 'pvc/data', '--cascade=foreground']);
  const isGone = async () => !(await readdir(parent)).includes(spec.volumeName);
  await pollUntil('the removal of the volume', isGone, { timeoutMs: 100_000 });
});

test('down leaves no process, mount, network device, namespace, firewall rule, control group or file, and its neighbour alone', async () => {
  await first.down();
  expect(await builtinProvider.status(name)).toBeUndefined();
  expect(await answerOf(second)).toMatchObject({ cluster: neighbour });
  await second.down();
  expect(await machineState(name)).toEqual(before);
});

const up = (cluster: string) => builtinProvider.up({ name: cluster, progress: quiet });

/** The program of the test's pods: answers with what it finds. */
const program = `
const { createServer, get } = require('node:http');
const { readFileSync, writeFileSync } = require('node:fs');
const { connect } = require('node:net');
const { request } = require('node:https');
const name = process.env.CLUSTER;
const text = (url) => new Promise((resolve, reject) => get(url, (answer) => {
  let body = '';
  answer.on('data', (chunk) => (body += chunk)).on('end', () => resolve(body));
}).on('error', reject));
const apiServer = () => new Promise((resolve, reject) => request('https://kubernetes.default.svc/readyz', {
  ca: readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/ca.crt'),
}, (answer) => resolve(answer.resume().statusCode)).on('error', reject).end());
const outside = () => new Promise((resolve) => connect(80, '192.0.2.1').on('error', (error) => resolve(error.code)));
createServer(async (request, response) => {
  if (request.url === '/disk') {
    writeFileSync('/data/name', name);
    return response.end(name);
  }
  try {
    const service = await text('http://web.default.svc.cluster.local/disk');
    const found = { cluster: name, disk: readFileSync('/data/name', 'utf8'), service, apiServer: await apiServer() };
    response.end(JSON.stringify({ ...found, outside: await outside() }));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(8080, () => console.log('listening'));
process.on('SIGTERM', () => process.exit());
`;

/** Forwards a port that kubectl chooses, asks once, and ends the forwarding. */
const portForward = `
"$1" port-forward service/web :80 > "\${TMPDIR:-/tmp}/windlass-forward.$$" &
trap 'kill $!; rm -f "\${TMPDIR:-/tmp}/windlass-forward.$$"' EXIT
for _ in $(seq 100); do
  port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\) .*/\\1/p' "\${TMPDIR:-/tmp}/windlass-forward.$$")
  [ -n "$port" ] && break
  sleep 0.1
done
node -e 'fetch("http://127.0.0.1:'"$port"'/").then(async (answer) => console.log(await answer.text()))'
`;

function manifests(cluster: Cluster): string {
  const labels = { app: 'web' };
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  };
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const container = {
    name: 'web',
    image: reference,
    imagePullPolicy: 'Never',
    args: ['-e', program],
    env: [{ name: 'CLUSTER', value: cluster.name }],
    readinessProbe: {
      httpGet: { path: '/', port: 8080 },
      initialDelaySeconds: 1,
      periodSeconds: 1,
      timeoutSeconds: 5,
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 65532,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container],
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      },
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: {
      type: 'NodePort',
      selector: labels,
      // Its pod asks for itself through the service before it is ready.
      publishNotReadyAddresses: true,
      ports: [{ port: 80, targetPort: 8080, nodePort: nodePort(cluster) }],
    },
  };
  return [namespace, claim, deployment, service].map((object) => stringify(object)).join('---\n');
}

function nodePort(cluster: Cluster): number {
  return cluster.nodePortRange![0] + 7;
}

async function answerOf(cluster: Cluster): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${nodePort(cluster)}/`);
  return answer.json();
}

async function deploymentIsReady(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ['rollout', 'status', 'deployment/web', '--timeout=150s'], { timeoutMs: 170_000 });
}

async function podOf(cluster: Cluster): Promise<unknown> {
  const { items } = await getJson<{
    items: { metadata: { name: string }; status: { containerStatuses: unknown } }[];
  }>(cluster, 'pods', '--selector=app=web');
  return items.map(({ metadata, status }) => [metadata.name, status.containerStatuses]);
}

async function endedParts(cluster: string): Promise<string[]> {
  const parts = (await builtinProvider.status(cluster)) ?? [];
  return parts.filter(({ state }) => state === 'ended').map(({ part }) => part);
}
