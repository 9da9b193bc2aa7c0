/** A built-in cluster of several nodes: what pods find on each, and that a node can be lost and replaced. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { builtinProvider } from '../cluster/builtin/provider.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { getJson, kubectl, readPath } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import { quiet } from '../support/process/progress.ts';
import { kill, machineState, writeTestImage, type MachineState } from './machine.ts';

const reference = 'localhost/windlass-cluster/test:1';
const name = 'nodes-test';
const NODES = [name, `${name}-2`, `${name}-3`];
const patience = { timeoutMs: 100_000 };
let cluster: Cluster;
let folder: string;
let before: MachineState;

beforeAll(async () => {
  before = await machineState(name);
  folder = await mkdtemp(join(tmpdir(), 'windlass-nodes-test-'));
  await up();
  cluster = await up(3);
  await cluster.loadImage(await writeTestImage(folder, reference), reference);
  const objects = [claim, ...NODES.map(web), service].map((object) => stringify(object));
  await kubectl(cluster, ['apply', '-f', '-'], { input: objects.join('---\n') });
  for (const node of NODES) await podIsReady(node);
});

afterAll(async () => {
  await builtinProvider.down(name, quiet);
  await rm(folder, { recursive: true, force: true });
});

test('a cluster of one node gains two, which are ready and run pods', async () => {
  const { items } = await getJson<{ items: { metadata: { name: string } }[] }>(cluster, 'nodes');
  expect(items.map(({ metadata }) => metadata.name)).toEqual(NODES);
  const parts = (await builtinProvider.status(name)) ?? [];
  expect(parts.map(({ part }) => part)).toEqual(
    expect.arrayContaining(['kubelet', 'node-2/kubelet', 'node-3/kube-proxy']),
  );
  expect(parts.filter(({ state }) => state !== 'works')).toEqual([]);
});

test('pods of every node reach pods of every other, names, the API server and nothing outside', async () => {
  for (const node of NODES) {
    expect(await exec(node, `ask(${JSON.stringify(NODES.map(host))})`)).toEqual(NODES);
    // New connections to the service until each pod has answered.
    expect(await exec(node, `collect('http://web.default.svc.cluster.local:8080', 3)`)).toEqual(NODES);
    expect(await exec(node, 'outside()')).toBe('ENETUNREACH');
  }
});

test('kubectl exec and logs reach pods of a further node', async () => {
  expect(await kubectl(cluster, ['logs', podName(NODES[2]!)])).toContain('listening');
});

test('a volume has the same data on every node, so that its pod can move', async () => {
  for (const node of NODES)
    expect(await exec(node, `require('node:fs').readdirSync('/data')`)).toEqual(NODES);
});

test('a node that is lost is told, becomes not ready, and comes back with its pods', async () => {
  await podIsReady(NODES[1]!);
  await kill(`^cluster-node\0init\0.*/${name}/node-2/node.json`);
  const parts = (await builtinProvider.status(name)) ?? [];
  expect(parts.filter(({ state }) => state !== 'works')).toMatchObject([{ part: 'node-2', state: 'ended' }]);
  await pollUntil('the loss of the node', async () => (await readiness(NODES[1]!)) === 'Unknown', patience);
  await up();
  expect(await readiness(NODES[1]!)).toBe('True');
  await podIsReady(NODES[1]!);
  expect(await exec(NODES[1]!, `ask(${JSON.stringify(NODES.map(host))})`)).toEqual(NODES);
});

test('down leaves nothing of any node', async () => {
  await cluster.down();
  expect(await builtinProvider.status(name)).toBeUndefined();
  expect(await machineState(name)).toEqual(before);
});

const up = (nodes?: number): Promise<Cluster> =>
  builtinProvider.up({ name, progress: quiet, ...(nodes !== undefined && { nodes }) });

const podName = (node: string) => `web-${node}`;
const host = (node: string) => `http://${podName(node)}.web.default.svc.cluster.local:8080`;

async function podIsReady(node: string): Promise<void> {
  await kubectl(
    cluster,
    ['wait', `pod/${podName(node)}`, '--for=condition=Ready', '--timeout=90s'],
    patience,
  );
}

async function readiness(node: string): Promise<string | undefined> {
  type NodeObject = { status: { conditions: { type: string; status: string }[] } };
  const { status } = await readPath<NodeObject>(cluster, `/api/v1/nodes/${node}`);
  return status.conditions.find(({ type }) => type === 'Ready')?.status;
}

/** What the expression gives in the pod of a node. */
async function exec(node: string, expression: string): Promise<unknown> {
  const script = `${questions}; (async () => console.log(JSON.stringify(await ${expression})))()`;
  const args = ['exec', podName(node), '--', 'node', '-e', script];
  return JSON.parse(await kubectl(cluster, args, { timeoutMs: 60_000 }));
}

/** What pods ask each other. */
const questions = `
const { connect } = require('node:net');
const { get } = require('node:http');
const text = (url) => new Promise((resolve, reject) => get(url, { agent: false }, (answer) => {
  let body = '';
  answer.on('data', (chunk) => (body += chunk)).on('end', () => resolve(body));
}).on('error', reject));
const ask = (urls) => Promise.all(urls.map(text));
const collect = async (url, most) => {
  const found = new Set();
  while (found.size < most) found.add(await text(url));
  return [...found].sort();
};
const outside = () => new Promise((resolve) => connect(80, '192.0.2.1').on('error', (error) => resolve(error.code)));
`;

/**
 * The program of the test's pods: answers with the name of its node, and leaves a file of that name on the
 * disk.
 */
const program = `
const { createServer } = require('node:http');
require('node:fs').writeFileSync(\`/data/\${process.env.NODE}\`, '');
createServer((request, response) => response.end(process.env.NODE)).listen(8080, () => console.log('listening'));
process.on('SIGTERM', () => process.exit());
`;

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

/** Its pods have names, and its own name leads to any of them. */
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 8080 }] },
};

function web(node: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(node), labels: { app: 'web' } },
    spec: {
      hostname: podName(node),
      subdomain: 'web',
      nodeName: node,
      // Stays bound to a node that is lost.
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'web',
          image: reference,
          imagePullPolicy: 'Never',
          args: ['-e', program],
          env: [{ name: 'NODE', value: node }],
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  };
}
