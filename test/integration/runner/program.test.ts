/**
 * The runner as its program: with an API server that comes and goes, credentials, records, and a SIGTERM at
 * the end.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP, VERSION } from '../../../api/group.ts';
import { WORKFLOW_RUN, type Credential, type WorkflowRun } from '../../../api/kinds.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespacedResource, namespaces, secrets } from '../../../kube/resource.ts';
import { credentialResource } from '../../../runner/credentials.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { readRun } from '../../../runs/read.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { startKubeApiFaults, type KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import { startModelServer, type ModelServer } from '../../support/providers/model/modelServer.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { startRunnerProgram, type RunnerProgram } from '../../support/runner/runnerProgram.ts';
import { openTestProject, type TestProject } from '../../support/runner/runnerProject.ts';
import { writeKubeconfig } from '../../support/cluster/users.ts';

const runObjects = namespacedResource<WorkflowRun>(GROUP, VERSION, WORKFLOW_RUN.kind, WORKFLOW_RUN.plural);
const namespace = 'shop';
const SOON = { timeoutMs: 40_000, everyMs: 50 };

let api: ApiServer;
let client: KubeClient;
let faults: KubeApiFaults;
let redis: TestRedis;
let model: ModelServer;
let conn: RunStoreConnection;
let project: TestProject;
let runner: RunnerProgram;
let letThrough: () => void;

beforeAll(async () => {
  [api, redis, model] = await Promise.all([
    sharedApiServer(),
    startRedis(),
    startModelServer({ apiKey: 'right' }),
  ]);
  client = createClient(api.connection, { fieldManager: 'test' });
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(secrets, { metadata: { name: 'accounts', namespace }, data: { key: btoa('right') } });
  const spec: Credential['spec'] = {
    openai: { baseURL: model.baseURL, apiKeyRef: { name: 'accounts', key: 'key' } },
  };
  await client.create(credentialResource, { metadata: { name: 'llm', namespace }, spec });
  conn = connectRunStore({ url: redis.url, name: 'test' });
  project = await openTestProject(conn);
  faults = await startKubeApiFaults(api.connection);
  letThrough = faults.always(() => true, 'reset');
  await startRunner();
}, 600_000);

afterAll(async () => {
  await runner?.stop('SIGKILL');
  await conn?.close();
  await Promise.all([faults?.stop(), model?.close(), redis?.stop(), client?.close()]);
  await api?.stop();
});

async function startRunner(nodeArgs: string[] = []): Promise<void> {
  const kubeconfigPath = await writeKubeconfig({ ...api, url: faults.connection.server }, 'runner', 'none');
  const place = { kubeconfigPath, redisURL: redis.url, namespace, project: project.uid };
  runner = await startRunnerProgram({ ...place, nodeArgs, env: { EGRESS_ALLOW: '127.0.0.0/8' } });
}

/** Whether the runner said before it claimed runs that it keeps its memory. */
async function keepsMemory(): Promise<boolean> {
  const said = (text: string) => runner.log.some((line) => line.includes(text));
  await pollUntil('the runner claiming runs', () => said('"claiming runs"'), SOON);
  return said('memory is kept while idle');
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
  await pollUntil('the runner asking for credentials', () => faults.seen.length > 1, SOON);
  const answer = await fetch(`${runner.url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, 'credentials are not synced yet\n']);
  expect((await fetch(`${runner.url}/healthz`)).status).toBe(200);
  expect(await readRun(conn, project.uid, run)).toMatchObject({ phase: 'Pending' });
  letThrough();
  const { status } = await recorded(run);
  expect((await fetch(`${runner.url}/readyz`)).status).toBe(200);
  expect(status?.nodes).toMatchObject([
    { id: 'trigger', phase: 'Succeeded', output: { text_content: '', data_content: { name: 'Ada' } } },
    { id: 'a', phase: 'Succeeded', attempts: 1, output: { text_content: 'You said: Ada' } },
    { id: 'reply', phase: 'Succeeded' },
  ]);
});

test('when the API server goes away later, runs are executed all the same and recorded afterwards', async () => {
  const revision = await project.deploy(nodes);
  letThrough = faults.always(() => true, 'reset');
  const run = await project.send(revision, { name: 'Bo' });
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded', reply: { body: 'You said: Bo' } });
  letThrough();
  await recorded(run);
});

test('what it did is in its metrics, its uses of credentials are in the audit trail, and no payload is in its log', async () => {
  const metrics = await (await fetch(`${runner.url}/metrics`)).text();
  expect(metrics).toContain('windlass_runs_total{conclusion="Succeeded",test="false"} 2');
  expect(metrics).toMatch(/windlass_node_duration_seconds_count\{kind="agent"\} 2/);
  expect(metrics).toContain('nodejs_eventloop_lag_max_seconds');
  const uses = () => auditTrail(runner.log);
  await expect.poll(uses).toMatchObject(
    Array.from({ length: 2 }, () => ({
      event: 'credential.use',
      result: 'allowed',
      object: { kind: 'Credential', namespace, name: 'llm', uid: expect.stringMatching(/.{36}/) as string },
      node: 'a',
      attempt: 1,
      host: new URL(model.baseURL).host,
    })),
  );
  for (const secret of ['Ada', 'right', 'You said']) expect(runner.log.join('\n')).not.toContain(secret);
});

test('without --expose-gc it says that it keeps its memory', async () => {
  expect(await keepsMemory()).toBe(true);
});

test('on SIGTERM it ends in order, and hands back what cannot end in its time', async () => {
  const revision = await project.deploy(nodes);
  model.setFault('hang');
  const run = await project.send(revision, { name: 'Cy' });
  await project.until(run, (state) => state.nodes.some(({ id, phase }) => id === 'a' && phase === 'Running'));
  expect(await runner.stop()).toBe(0);
  const claimed = await claimRuns(conn, { project: project.uid, runner: 'next', max: 10 });
  expect(claimed).toMatchObject({ outcome: 'claimed', claims: [{ state: { run, crashes: 0 } }] });
});

test('a container that starts again in its pod leaves the runs of the one that died to be taken over', async () => {
  await startRunner();
  const revision = await project.deploy(nodes);
  model.setFault('hang');
  const run = await project.send(revision, { name: 'Di' });
  await project.until(run, (state) => state.nodes.some(({ id, phase }) => id === 'a' && phase === 'Running'));
  await runner.stop('SIGKILL');
  model.setFault(undefined);
  await startRunner(['--expose-gc']);
  expect(await project.ended(run, 50_000)).toMatchObject({ phase: 'Succeeded', crashes: 1 });
}, 90_000);

test('with --expose-gc it does not say that it keeps its memory', async () => {
  expect(await keepsMemory()).toBe(false);
});
