/** What happens to runs when the programs under them are killed. */
import { readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerToken, liveEvents } from '../support/gateway.ts';
import { waitForReady, windlassNamespace } from '../support/install.ts';
import { pollUntil } from '../support/poll.ts';
import {
  apply,
  cluster,
  createProject,
  exampleObjects,
  gateway,
  kube,
  mailsTo,
  postWebhook,
  recordedRuns,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

let project: string;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => removeProject(project));

/** The example with a model that takes ten seconds for its answer, so that there is a middle to break it in. */
async function applySlowOrder(): Promise<void> {
  const objects = await exampleObjects('order-confirmation', 'accounts.yaml', 'workflow.yaml');
  const text = JSON.stringify(objects).replace('"model":"gpt-4o-mini"', '"model":"demo-slow"');
  await apply(project, ...(JSON.parse(text) as object[]));
  await waitForReady(cluster, 'order-confirmation', project);
}

/** Sends an order and waits until the agent speaks; gives the name of its run. */
async function orderUntilAgentSpeaks(email: string): Promise<string> {
  const before = new Set((await recordedRuns(project)).map((run) => run.metadata.name));
  const order = {
    number: 'A-1',
    customer: { name: 'Ada', email },
    items: [{ name: 'lamp', quantity: 2, price: 3 }],
  };
  // The answer may come too late for the caller, which is not what is tested here.
  postWebhook(project, 'order-confirmation', 'orders', order).catch(() => undefined);
  const name = await pollUntil(
    'a record of the order',
    async () =>
      (await recordedRuns(project)).map((run) => run.metadata.name).find((each) => !before.has(each)),
    { timeoutMs: 20_000 },
  );
  const token = await callerToken(cluster);
  const events = `${gateway.internalURL}/workflows/${project}.order-confirmation/runs/${name}/events`;
  for await (const event of liveEvents(events, token)) if (event.type === 'text') return name;
  throw new Error('the run ended before its agent spoke');
}

async function allowCaller(): Promise<void> {
  const account = 'windlass-demo:caller';
  await kube([
    'create',
    'rolebinding',
    'caller',
    '-n',
    project,
    '--clusterrole=windlass-execute',
    `--serviceaccount=${account}`,
  ]);
}

test.each([
  ['asked to end', []],
  ['killed', ['--force', '--grace-period=0']],
])(
  'a runner that is %s in the middle of an answer costs neither the run nor a second mail',
  async (how, flags) => {
    if (how === 'asked to end') await allowCaller();
    await applySlowOrder();
    const email = `${how.replaceAll(' ', '-')}@${project}.example.com`;
    const name = await orderUntilAgentSpeaks(email);
    await kube([
      'delete',
      'pod',
      '-n',
      project,
      '-l',
      'app.kubernetes.io/name=windlass-runner',
      '--wait=false',
      ...flags,
    ]);
    const { status } = await runInPhase(project, name, 'Succeeded', 100_000);
    expect(status?.nodes?.map(({ phase }) => phase)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect(await mailsTo(email)).toHaveLength(1);
  },
);

test('a Redis that is killed loses nothing that was answered with 2xx', async () => {
  const history = { history: { succeeded: 1000 } };
  await apply(project, workflowOf('steady', [{ id: 'trigger', webhook: { path: 'in' } }], history));
  await waitForReady(cluster, 'steady', project);
  const accepted = new Set<string>();
  const statuses = new Map<number, number>();
  const sending = new AbortController();
  const sender = async () => {
    while (!sending.signal.aborted) {
      const answer = await postWebhook(project, 'steady', 'in', {});
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) accepted.add((JSON.parse(answer.text) as { run: string }).run);
      await new Promise((resolve) => setTimeout(resolve, 80));
    }
  };
  const senders = Promise.all([sender(), sender()]);
  await pollUntil('fifty accepted events', () => accepted.size >= 50, { timeoutMs: 60_000 });
  process.kill(await redisProcess(), 'SIGKILL');
  await pollUntil('a refusal while Redis is away', () => statuses.has(503), { timeoutMs: 30_000 });
  const beforeReturn = accepted.size;
  await pollUntil('fifty more after its return', () => accepted.size >= beforeReturn + 50, {
    timeoutMs: 90_000,
  });
  sending.abort();
  await senders;

  expect(new Set(statuses.keys())).toEqual(new Set([200, 503]));
  await pollUntil(
    'the success of every accepted event',
    async () => {
      const runs = await recordedRuns(project);
      const phases = new Map(runs.map(({ metadata, status }) => [metadata.name, status?.phase]));
      const open = [...accepted].filter((name) => phases.get(name) !== 'Succeeded');
      if (open.length === 0) return true;
      const states = open.map((name) => `${name} ${phases.get(name) ?? 'has no record'}`);
      throw new Error(`${open.length} of ${accepted.size} are open: ${states.join(', ')}`);
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
});

/** The process of the chart's Redis, which is one of this machine: the cluster's node shares its kernel. */
async function redisProcess(): Promise<number> {
  const uid = await kube([
    'get',
    'pod',
    '-n',
    windlassNamespace,
    'windlass-redis-0',
    '-o',
    'jsonpath={.metadata.uid}',
  ]);
  const inCgroup = uid.replaceAll('-', '_');
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [name, cgroups] = await Promise.all(
      ['comm', 'cgroup'].map((file) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '')),
    );
    const ours = cgroups?.includes(uid) || cgroups?.includes(inCgroup);
    if (name?.startsWith('redis-server') && ours) return Number(entry);
  }
  throw new Error('the process of Redis was not found on this machine');
}
