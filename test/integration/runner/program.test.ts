/** The runner as its program: with an API server that comes and goes, credentials, records, and a SIGTERM at the end. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { GROUP, VERSION } from '../../../api/group.ts';
import { WORKFLOW_RUN, type Credential, type WorkflowRun } from '../../../api/kinds.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespacedResource, namespaces, secrets } from '../../../kube/resource.ts';
import { credentialResource } from '../../../runner/credentials.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { connectRunStore, type RunStoreConnection } from '../../../runs/connection.ts';
import { readRun } from '../../../runs/read.ts';
import { startApiServer, type ApiServer } from '../../support/apiserver.ts';
import { installCrds } from '../../support/crds.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/kubeApiFaults.ts';
import { startModelServer, type ModelServer } from '../../support/modelServer.ts';
import { pollUntil } from '../../support/poll.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { openTestProject, type TestProject } from '../../support/runnerProject.ts';

const runObjects = namespacedResource<WorkflowRun>(GROUP, VERSION, WORKFLOW_RUN.kind, WORKFLOW_RUN.plural);
const namespace = 'shop';
const SOON = { timeoutMs: 20_000, everyMs: 50 };

let api: ApiServer;
let client: KubeClient;
let door: KubeApiFaults;
let redis: TestRedis;
let model: ModelServer;
let conn: RunStoreConnection;
let project: TestProject;
let folder: string | undefined;
let child: ChildProcess;
let url: string;
let letThrough: () => void;
const log: string[] = [];

beforeAll(async () => {
  [api, redis, model] = await Promise.all([
    startApiServer(),
    startRedis(),
    startModelServer({ apiKey: 'right' }),
  ]);
  client = createClient(api.connection, { fieldManager: 'test' });
  await installCrds(client);
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(secrets, { metadata: { name: 'accounts', namespace }, data: { key: btoa('right') } });
  const spec: Credential['spec'] = {
    openai: { baseURL: model.baseURL, apiKeyRef: { name: 'accounts', key: 'key' } },
  };
  await client.create(credentialResource, { metadata: { name: 'llm', namespace }, spec });
  conn = connectRunStore({ url: redis.url, name: 'test' });
  project = await openTestProject(conn);
  door = await startKubeApiFaults(api.connection);
  letThrough = door.always(() => true, 'reset');
  await startProgram();
}, 600_000);

afterAll(async () => {
  child?.kill('SIGKILL');
  await conn?.close();
  await Promise.all([door?.stop(), model?.close(), redis?.stop(), client?.close()]);
  await api?.stop();
  if (folder) await rm(folder, { recursive: true });
});

async function startProgram(): Promise<void> {
  log.length = 0;
  folder ??= await mkdtemp(join(tmpdir(), 'windlass-runner-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const name = 'test';
  const config = {
    'current-context': name,
    clusters: [{ name, cluster: { server: door.connection.server, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  await writeFile(kubeconfig, stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  child = spawn(process.execPath, [fileURLToPath(new URL('../../../runner/main.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: kubeconfig,
      POD_NAME: 'runner-0',
      POD_NAMESPACE: namespace,
      PROJECT_UID: project.uid,
      REDIS_URL: redis.url,
      METRICS_PORT: '0',
      EGRESS_ALLOW: '127.0.0.0/8',
      GRACE_SECONDS: '6',
    },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  createInterface({ input: child.stdout! }).on('line', (line) => log.push(line));
  const listening = await pollUntil(
    'the runner listening',
    () => log.find((line) => line.includes('"listening"')),
    SOON,
  );
  url = `http://127.0.0.1:${(JSON.parse(listening) as { metricsPort: number }).metricsPort}`;
}

const nodes = [
  { id: 'trigger', webhook: { path: 'orders' } },
  { id: 'a', agent: { credential: 'llm', model: 'demo', prompt: "{{ $('trigger').data_content.name }}" } },
  { id: 'reply', response: { body: "{{ $('a').text_content }}" } },
];
const recorded = (run: string) =>
  pollUntil(
    `the record of ${run}`,
    async () => {
      const object = await client.find(runObjects, { namespace, name: run });
      return object?.status?.phase === 'Succeeded' ? object : undefined;
    },
    SOON,
  );

test('while the API server is away at the start, the runner waits and fails no run; then it executes and records', async () => {
  const run = await project.send(await project.deploy(nodes), { name: 'Ada' });
  await pollUntil('the runner asking for credentials', () => door.seen.length > 1, SOON);
  const answer = await fetch(`${url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, 'the credentials are not read yet\n']);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await readRun(conn, project.uid, run)).toMatchObject({ phase: 'Pending' });
  letThrough();
  const { status } = await recorded(run);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(status?.nodes).toMatchObject([
    { id: 'trigger', phase: 'Succeeded', output: { text_content: '', data_content: { name: 'Ada' } } },
    { id: 'a', phase: 'Succeeded', attempts: 1, output: { text_content: 'You said: Ada' } },
    { id: 'reply', phase: 'Succeeded' },
  ]);
});

test('when the API server goes away later, runs are executed all the same and recorded afterwards', async () => {
  const revision = await project.deploy(nodes);
  letThrough = door.always(() => true, 'reset');
  const run = await project.send(revision, { name: 'Bo' });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', reply: { body: 'You said: Bo' } });
  letThrough();
  await recorded(run);
});

test('what it did is in its metrics, and no payload in its log', async () => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('windlass_runs_total{conclusion="Succeeded"} 2');
  expect(metrics).toMatch(/windlass_node_duration_seconds_count\{kind="agent"\} 2/);
  expect(metrics).toContain('windlass_event_loop_lag_seconds');
  for (const secret of ['Ada', 'right', 'You said']) expect(log.join('\n')).not.toContain(secret);
});

test('on SIGTERM it ends in order, and hands back what cannot end in its time', async () => {
  const revision = await project.deploy(nodes);
  model.setFault('hang');
  const run = await project.send(revision, { name: 'Cy' });
  await project.until(run, (state) => state.nodes.some(({ id, phase }) => id === 'a' && phase === 'Running'));
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'next', max: 10 });
  expect(claimed).toMatchObject({ outcome: 'claimed', claims: [{ state: { run, crashes: 0 } }] });
});

test('a container that starts again in its pod leaves the runs of the one that died to be taken over', async () => {
  await startProgram();
  const revision = await project.deploy(nodes);
  model.setFault('hang');
  const run = await project.send(revision, { name: 'Di' });
  await project.until(run, (state) => state.nodes.some(({ id, phase }) => id === 'a' && phase === 'Running'));
  const died = once(child, 'exit');
  child.kill('SIGKILL');
  await died;
  model.setFault(undefined);
  await startProgram();
  expect(await project.ended(run, 50_000)).toMatchObject({ phase: 'Succeeded', crashes: 1 });
}, 90_000);
