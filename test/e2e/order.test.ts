/** The example as a person uses it: apply, wait, call, look at what happened; switch it off and on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../kube/client.ts';
import { isConditionTrue } from '../../kube/conditions.ts';
import { kubeconfigConnection } from '../../kube/config.ts';
import { workflows } from '../../operator/shared/resources.ts';
import { applyExample, waitForReady } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  cluster,
  condition,
  createProject,
  gateway,
  kube,
  mailsTo,
  postWebhook,
  recordedRuns,
  removeProject,
  runInPhase,
  send,
  webhookURL,
  workflowObject,
  type RecordedRun,
} from './environment.ts';

const workflow = 'order-confirmation';
const SOON = { timeout: 100_000, interval: 100 };
let project: string;
beforeAll(async () => {
  project = await createProject();
  await applyExample(cluster, workflow, project);
});
afterAll(() => removeProject(project));

const orderFrom = (email: string) => ({
  number: 'A-1',
  customer: { name: 'Ada', email },
  items: [{ name: 'lamp', quantity: 2, price: 19.5, tags: ['a', ['b', null]] }],
  note: null,
  large: 9007199254740992,
});
const post = (body: unknown) => postWebhook(project, workflow, 'orders', body);

test('the webhook answers with what the response node defines, and the mail is at the mail server', async () => {
  const answer = await post(orderFrom('answer@example.com'));
  expect(answer.status).toBe(201);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const body = JSON.parse(answer.text) as { confirmation: string };
  expect(body).toEqual({ number: 'A-1', first_item: 'lamp', confirmation: expect.stringMatching(/lamp/) });
  const [mail] = await mailsTo('answer@example.com');
  expect(mail).toMatchObject({
    subject: 'Your order A-1',
    text: body.confirmation,
    from: 'orders@example.com',
  });
});

test('the record has phase, trigger and duration, and what every node produced', async () => {
  const before = new Set((await recordedRuns(project)).map((run) => run.metadata.name));
  const order = orderFrom('record@example.com');
  await post(order);
  const name = await pollUntil(
    'a record of the order',
    async () =>
      (await recordedRuns(project)).map((run) => run.metadata.name).find((each) => !before.has(each)),
    { timeoutMs: 100_000 },
  );
  const { spec, status } = await runInPhase(project, name, 'Succeeded');
  expect(spec.trigger?.type).toBe('webhook');
  expect(status?.nodes?.map(({ id, phase }) => [id, phase])).toEqual([
    ['trigger', 'Succeeded'],
    ['agent_1', 'Succeeded'],
    ['mail', 'Succeeded'],
    ['reply', 'Succeeded'],
  ]);
  const outputs = Object.fromEntries((status?.nodes ?? []).map((node) => [node.id, node.output]));
  expect(outputs['trigger']).toEqual({ text_content: '', data_content: order });
  expect(outputs['agent_1']).toMatchObject({
    text_content: expect.stringMatching(/lamp/),
    data_content: {
      model: 'gpt-4o-mini',
      finish_reason: 'stop',
      usage: { total_tokens: expect.any(Number) },
    },
  });
  expect(outputs['mail']?.text_content).not.toBe('');
  const columns = (await kube(['get', 'wlr', '-n', project, name, '--no-headers'])).split(/\s+/);
  expect(columns.slice(0, 4)).toEqual([name, 'Succeeded', workflow, 'webhook']);
  expect(columns[4]).toMatch(/^\d/);
});

test.each([
  ['a number that a double cannot hold', '{"number": 1e400}', 422],
  ['text that is no JSON', '{"number": ', 400],
])('%s is refused and starts nothing', async (_what, body, status) => {
  const answer = await post(body);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  // What had been started before the next order would be recorded when that is.
  const next = `next-${status}@example.com`;
  expect((await post(orderFrom(next))).status).toBe(201);
  const customers = async () => (await recordedRuns(project)).map(customerOf);
  await expect.poll(customers, SOON).toContain(next);
  await expect.poll(customers, SOON).not.toContain(undefined);
});

/** Undefined for a run that no order has started. */
function customerOf({ status }: RecordedRun): string | undefined {
  const order = status?.nodes?.[0]?.output?.data_content as { customer?: { email: string } } | undefined;
  return order?.customer?.email;
}

test('switched off it is gone within two seconds at every replica; switched on it has the same address', async () => {
  const activate = (active: boolean) =>
    kube([
      'patch',
      '-n',
      project,
      `workflows.windlass.dev/${workflow}`,
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { active } }),
    ]);
  const url = (await workflowObject(project, workflow)).status?.url;
  expect(url).toBe(webhookURL(project, workflow, 'orders'));

  await activate(false);
  const switchedOff = performance.now();
  await pollUntil(
    'ten answers of 404 in a row',
    async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => post('x')));
      return answers.every(({ status }) => status === 404);
    },
    { timeoutMs: 100_000, everyMs: 20 },
  );
  expect(performance.now() - switchedOff).toBeLessThan(2_000);
  await condition(project, `workflows.windlass.dev/${workflow}`, 'Ready', {
    status: 'True',
    reason: 'Inactive',
  });
  expect((await workflowObject(project, workflow)).status?.url).toBeUndefined();

  await activate(true);
  await waitForReady(cluster, workflow, project);
  expect((await workflowObject(project, workflow)).status?.url).toBe(url);
  expect((await post(orderFrom('again@example.com'))).status).toBe(201);
});

/** Resolves, by the name of a workflow, as soon as the watch says that it is ready. */
async function watchReady(
  client: KubeClient,
  ready: ReadonlyMap<string, PromiseWithResolvers<void>>,
  signal: AbortSignal,
): Promise<void> {
  const options = { namespace: project, timeoutSeconds: 240 };
  for await (const event of client.watch(workflows, options, signal)) {
    if (event.type === 'BOOKMARK') continue;
    const { metadata, status } = event.object;
    if (isConditionTrue(status?.conditions, 'Ready', metadata.generation))
      ready.get(metadata.name)?.resolve();
  }
  if (!signal.aborted) throw new Error('the watch has ended');
}

test('in the moment after Ready no replica answers 404, two hundred times over', async () => {
  const refused: string[] = [];
  const names = Array.from({ length: 200 }, (_, index) => `fresh-${index}`);
  const ready = new Map(names.map((name) => [name, Promise.withResolvers<void>()]));
  const client = createClient(await kubeconfigConnection(cluster.kubeconfigPath));
  const stopping = new AbortController();
  const watching = watchReady(client, ready, stopping.signal);
  const callWhenReady = async (name: string) => {
    const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'in' } }] };
    await client.apply(workflows, { metadata: { namespace: project, name }, spec });
    await Promise.race([ready.get(name)?.promise, watching]);
    const answers = await Promise.all(Array.from({ length: 4 }, () => postWebhook(project, name, 'in', {})));
    refused.push(
      ...answers
        .filter(({ status }) => status !== 200)
        .map(({ status, text }) => `${name}: ${status} ${text}`),
    );
  };
  const worker = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await callWhenReady(name);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  stopping.abort();
  await watching;
  await client.close();
  expect(refused).toEqual([]);
}, 240_000);

test('an unknown path has the same response, whether it never was or belongs to others', async () => {
  const answers = await Promise.all([
    send('POST', webhookURL(project, 'nothing', 'orders'), {}),
    send('POST', webhookURL(project, workflow, 'other'), {}),
    send('POST', `${gateway.publicURL}/webhook/nowhere`, {}),
  ]);
  const withoutInstance = answers.map(({ status, text }) => [status, text.replace(/"instance":"[^"]*"/, '')]);
  expect(new Set(withoutInstance.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(answers[0]?.status).toBe(404);
});
