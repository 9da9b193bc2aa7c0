/**
 * Operator and gateway behind proxies to the API server that misbehave: a change that is made meanwhile is in
 * effect within 5 s of the end of the fault (within 30 s of the change when watches fall silent), and nothing
 * is made twice.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { controllerRevisions, deployments } from '../../../kube/resource.ts';
import { credentials, webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { applyChart } from '../../support/cluster/chart.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import {
  isList,
  isWatch,
  startKubeApiFaults,
  type KubeApiFaults,
} from '../../support/cluster/kubeApiFaults.ts';
import {
  startOperatorHarness,
  SYSTEM,
  TESTER,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';

const GATEWAY = 'gateway-1';

let harness: OperatorHarness;
/** One for the operator, one for the gateway. */
let proxies: KubeApiFaults[] = [];
let gateway: GatewayProcess;
let namespace: string;
let uid: string;
let changes = 0;

beforeAll(async () => {
  harness = await startOperatorHarness();
  await applyChart(harness.server, SYSTEM, { templates: ['gateway', 'gateway-rbac'] });
  const upstream = { ...harness.server.connection, auth: {} };
  proxies = await Promise.all([startKubeApiFaults(upstream), startKubeApiFaults(upstream)]);
  const [operatorProxy, gatewayProxy] = proxies as [KubeApiFaults, KubeApiFaults];
  const token = await tokenOf(harness.client, SYSTEM, 'windlass-gateway');
  const url = gatewayProxy.connection.server;
  // It acknowledges for itself.
  harness.gateway.lag(GATEWAY);
  gateway = await startGateway({
    kubeconfigPath: await writeKubeconfig({ ...harness.server, url }, 'gateway', token),
    redisURL: harness.redis.url,
    pod: GATEWAY,
    namespace: SYSTEM,
    env: { REDIS_USERNAME: TESTER, REDIS_PASSWORD: TESTER },
  });
  harness.startOperator({ ...operatorProxy.connection, auth: harness.connection.auth });
  ({ namespace, uid } = await harness.createProject());
  await put();
  await served(60_000);
}, 600_000);

/**
 * Each fault is the first for a while: of several within seconds each is waited out for longer, lest they
 * become a storm.
 */
beforeEach(async () => {
  await change();
  await inEffect(20_000);
});

afterAll(async () => {
  await gateway?.stop();
  await harness?.stop();
  await Promise.all(proxies.map((proxy) => proxy.stop()));
});

const path = () => `path-${changes}`;

async function post(to: string): Promise<number> {
  const answer = await fetch(`${gateway.publicURL}/webhook/${namespace}.one/${to}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.status;
}

const put = () =>
  harness.client.apply(workflows, {
    metadata: { namespace, name: 'one' },
    spec: { active: true, nodes: [{ id: 'trigger', webhook: { path: path() } }] },
  });

/** A new path of the webhook, a new credential and a new run. */
async function change(): Promise<void> {
  changes += 1;
  await put();
  const metadata = { namespace, name: `number-${changes}` };
  const passwordRef = { name: 'nobody', key: 'password' };
  const smtp = { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef };
  await harness.client.create(credentials, { metadata, spec: { smtp } });
  await harness.client.create(workflowRuns, { metadata, spec: { workflow: 'one' } });
}

const served = (timeoutMs: number) =>
  pollUntil('the new path being served', async () => (await post(path())) === 200, {
    timeoutMs,
    everyMs: 50,
  });

/** Waits until all of the last change is in effect. Returns what is answered at the path of before. */
async function inEffect(timeoutMs: number): Promise<number> {
  const ref = { namespace, name: `number-${changes}` };
  const isChecked = async () =>
    (await harness.client.get(credentials, ref)).status?.conditions?.some(
      ({ type, reason }) => type === 'Ready' && reason === 'SecretMissing',
    );
  const isSubmitted = async () => (await runsOf()).includes(ref.name);
  const options = { timeoutMs, everyMs: 50 };
  await Promise.all([
    served(timeoutMs),
    pollUntil('the credential being checked', isChecked, options),
    pollUntil('the run being submitted', isSubmitted, options),
  ]);
  return post(`path-${changes - 1}`);
}

async function runsOf(): Promise<string[]> {
  const { metadata } = await harness.client.get(workflows, { namespace, name: 'one' });
  const runs = await unfinishedRuns(harness.conn, uid, metadata.uid ?? '');
  return Array.isArray(runs) ? runs : [];
}

const everyProxy = (act: (proxy: KubeApiFaults) => void) => () => proxies.forEach(act);

/** Answers the next watch of each kind so. */
function answerWatchesOnce(proxy: KubeApiFaults, status: number): void {
  const answered = new Set<string>();
  proxy.always(
    (request) => isWatch(request) && !answered.has(request.path) && answered.add(request.path).size > 0,
    { status, body: { kind: 'Status', code: status, reason: 'Expired' } },
  );
  proxy.resetWatches();
}

test.for([
  ['an answer 410', everyProxy((proxy) => answerWatchesOnce(proxy, 410))],
  ['an ERROR event in the middle of a watch', everyProxy((proxy) => proxy.expireWatches())],
  ['a reset', everyProxy((proxy) => proxy.resetWatches())],
] as const)('a change during %s is in effect within 5 s', async ([, begin]) => {
  begin();
  await change();
  expect(await inEffect(5_000)).toBe(404);
});

test('changes right before and right after watches are closed are in effect within 5 s', async () => {
  // A proxy that closes every 30 s: our own watches end before that, so that one that closes them early is
  // the worse one.
  const close = async () => proxies.forEach((proxy) => proxy.endWatches());
  await close();
  await change();
  expect(await inEffect(5_000)).toBe(404);
  await change();
  await close();
  expect(await inEffect(5_000)).toBe(404);
});

test('a change whose events are delayed is in effect within 5 s of their release', async () => {
  proxies.forEach((proxy) => proxy.holdWatches());
  await change();
  await change();
  // Longer than all that the operator would do at once.
  await expect(served(1_500)).rejects.toThrow('did not happen');
  proxies.forEach((proxy) => proxy.releaseWatches());
  expect(await inEffect(5_000)).toBe(404);
});

test('lists that are older than what was seen take nothing back', async () => {
  const kinds = [workflows, workflowRuns, credentials, webhookRoutes, controllerRevisions, deployments];
  const lists = new Map<string, unknown>();
  for (const { group, version, plural } of kinds) {
    const listPath = `/apis/${group}/${version}/${plural}`;
    lists.set(listPath, await harness.client.raw('GET', listPath));
  }
  await change();
  expect(await inEffect(5_000)).toBe(404);
  for (const proxy of proxies) {
    for (const [listPath, body] of lists)
      proxy.script(
        (request) => isList(request) && request.path === listPath,
        { status: 200, body },
        { status: 200, body },
      );
    proxy.expireWatches();
  }
  const answers: number[] = [];
  const since = performance.now();
  const haveListed = () => performance.now() - since > 3_000;
  await pollUntil(
    'the lists being asked for',
    async () => {
      answers.push(await post(path()));
      return haveListed();
    },
    { timeoutMs: 10_000, everyMs: 20 },
  );
  expect(new Set(answers)).toEqual(new Set([200]));
  await change();
  expect(await inEffect(5_000)).toBe(404);
});

test('while watches are silent, without being closed, a change is in effect within 30 s', async () => {
  proxies.forEach((proxy) => proxy.silenceWatches());
  await change();
  expect(await inEffect(30_000)).toBe(404);
}, 60_000);

test('after all of this there is nothing twice', async () => {
  const revisions = (await harness.client.listAll(controllerRevisions, { namespace })).items;
  const contents = revisions.map(({ data }) => JSON.stringify(data));
  expect(new Set(contents)).toHaveLength(contents.length);
  expect((await harness.client.listAll(webhookRoutes, { namespace })).items).toHaveLength(1);
  expect((await harness.client.listAll(deployments, { namespace })).items).toHaveLength(1);
  const made = Array.from({ length: changes }, (_, index) => `number-${index + 1}`);
  expect((await runsOf()).filter((run) => run.startsWith('number-')).toSorted()).toEqual(made.toSorted());
});
