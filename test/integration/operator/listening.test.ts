/** Test runs that listen for an event: with the operator, two gateways, and a real API server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { testRouteName } from '../../../api/names.ts';
import type { RunSpec, RunStatus } from '../../../api/run.ts';
import type { WebhookAuth } from '../../../api/trigger.ts';
import { namespaces } from '../../../kube/resource.ts';
import { webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { readRun } from '../../../runs/read.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import {
  bearer,
  manifest,
  startWebhookHarness,
  token,
  type Sent,
  type WebhookHarness,
} from '../../support/operator/webhookHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

let webhooks: WebhookHarness;
let harness: OperatorHarness;
let gateways: GatewayProcess[];

beforeAll(async () => {
  webhooks = await startWebhookHarness();
  ({ harness, gateways } = webhooks);
}, 600_000);
afterAll(() => webhooks?.stop());

const SOON = { timeoutMs: 20_000, everyMs: 25 };
/** The operator has to fill its caches first, and to find out that a run was lost. */
const AFTER_RESTART = { timeoutMs: 90_000, everyMs: 250 };
const SET = { id: 'set', skill: { name: 'set', parameters: { values: { count: '1' } } } };
const draftWith = (auth?: WebhookAuth, webhook: object = {}) => ({
  nodes: [{ id: 'trigger', webhook: { path: 'hook', ...(auth && { auth }), ...webhook } }, SET],
});

/** A project whose workflow `orders` is published, and served with the token `live`. */
async function project(): Promise<{ namespace: string; uid: string }> {
  const namespace = await webhooks.project({ live: 'live', tested: 'tested' });
  await harness.apply(namespace, manifest('orders', bearer('live')));
  await webhooks.serving(namespace, 'orders');
  const { metadata } = await harness.client.get(namespaces, { name: namespace });
  return { namespace, uid: metadata.uid ?? '' };
}

const create = (namespace: string, name: string, spec: Partial<RunSpec>) =>
  harness.client.create(workflowRuns, {
    metadata: { namespace, name },
    spec: { workflow: 'orders', test: true, listenFor: '2m', ...spec },
  });

const statusOf = async (namespace: string, name: string): Promise<RunStatus> =>
  (await harness.client.get(workflowRuns, { namespace, name })).status ?? {};

/** The path of its URL, as soon as the run listens. */
async function listening(namespace: string, name: string): Promise<string> {
  const { url } = await pollUntil(
    `run ${name} listening`,
    async () => (await statusOf(namespace, name)).listening ?? false,
    SOON,
  );
  return new URL(url).pathname;
}

const ended = (namespace: string, name: string): Promise<RunStatus> =>
  pollUntil(
    `the end of run ${name}`,
    async () => {
      const status = await statusOf(namespace, name);
      return status.completionTime !== undefined && status;
    },
    SOON,
  );

const call = (path: string, { body = '{}', headers = {} }: Sent = {}, at = 0): Promise<Response> =>
  fetch(`${gateways[at]?.publicURL}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const codeOf = async (answer: Response) => ((await answer.json()) as { type: string }).type.split('/').at(-1);

const routesOf = async (namespace: string) =>
  (await harness.client.listAll(webhookRoutes, { namespace })).items.map(({ metadata }) => metadata.name);

/** Waits until nothing is left of test runs: the workflow's route, and its entry of the Secret, alone. */
async function closed(namespace: string): Promise<void> {
  await pollUntil('the route being gone', async () => (await routesOf(namespace)).join() === 'orders', SOON);
  await pollUntil(
    'the keys being gone',
    async () => (await webhooks.entriesIn(namespace))?.length === 1,
    SOON,
  );
}

test('the first event that passes the auth of the draft starts the test run, and no other event does', async () => {
  const { namespace, uid } = await project();
  await create(namespace, 'listens', { draft: draftWith(bearer('tested'), { headers: ['x-event'] }) });
  const path = await listening(namespace, 'listens');
  expect(path).toMatch(new RegExp(`^/webhook/${namespace}\\.orders/test-[0-9a-f]{32}$`));
  expect((await call(path, token('live'))).status).toBe(401);
  const { headers } = token('tested');
  const sent = { body: '{"order": 1.10}', headers: { ...headers, 'x-event': 'new', 'idempotency-key': 'k' } };
  const answers = await Promise.all([0, 1, 0, 1, 0].map((at) => call(path, sent, at)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410, 410]);
  const accepted = answers.find(({ status }) => status === 200);
  expect(await accepted?.json()).toEqual({ run: 'listens' });
  const refused = answers.find(({ status }) => status === 410);
  expect(refused && (await codeOf(refused))).toBe('not-listening');
  const run = await readRun(harness.conn, uid, 'listens');
  const { spec } = await harness.client.get(workflowRuns, { namespace, name: 'listens' });
  expect(run).toMatchObject({
    test: true,
    trigger: 'webhook',
    revision: spec.revision,
    input: '{"text_content":"","data_content":{"order": 1.10},"headers":{"x-event":"new"}}',
  });
  expect(spec.draft).toBeUndefined();
  await harness.client.delete(workflowRuns, { namespace, name: 'listens' });
  await closed(namespace);
  expect((await call(path, sent)).status).toBe(404);
  expect(await webhooks.statuses(`${namespace}.orders`, token('live'))).toEqual([200, 200]);
});

test('a workflow with the uid of a listening run as its name has a route of its own', async () => {
  const { namespace } = await project();
  await create(namespace, 'listens', { draft: draftWith(bearer('tested')) });
  const path = await listening(namespace, 'listens');
  const { uid = '' } = (await harness.client.get(workflowRuns, { namespace, name: 'listens' })).metadata;
  await harness.apply(namespace, manifest(uid, bearer('live')));
  await webhooks.serving(namespace, uid);
  expect((await routesOf(namespace)).toSorted()).toEqual(['orders', uid, testRouteName(uid)].toSorted());
  expect((await call(path, token('tested'))).status).toBe(200);
  expect(await webhooks.statuses(`${namespace}.${uid}`, token('live'))).toEqual([200, 200]);
});

test('without a draft, the webhook that is published listens, also with mocks and while it is inactive', async () => {
  const { namespace, uid } = await project();
  await harness.client.patch(
    workflows,
    { namespace, name: 'orders' },
    { spec: { active: false } },
    { type: 'merge' },
  );
  await create(namespace, 'listens', { until: 'trigger', mocks: [] });
  const path = await listening(namespace, 'listens');
  expect((await call(path, token('live'))).status).toBe(200);
  expect(await readRun(harness.conn, uid, 'listens')).toMatchObject({
    until: 'trigger',
    testing: { mocks: [] },
  });
});

test('a run that got no event ends with its time, and says what to do', async () => {
  const { namespace } = await project();
  await create(namespace, 'listens', { listenFor: '5s', draft: draftWith() });
  const path = await listening(namespace, 'listens');
  expect(await ended(namespace, 'listens')).toMatchObject({
    phase: 'Cancelled',
    reason: 'NoEvent',
    message: expect.stringMatching(/^No event came to .* within 5s\. Start the test run again/),
  });
  await closed(namespace);
  expect((await call(path)).status).toBe(404);
});

test('a run that is cancelled, or deleted, while it listens takes no event', async () => {
  const { namespace, uid } = await project();
  await create(namespace, 'cancelled', { draft: draftWith(bearer('tested')) });
  await create(namespace, 'deleted', { draft: draftWith(bearer('tested')) });
  const paths = [await listening(namespace, 'cancelled'), await listening(namespace, 'deleted')];
  const cancel = { spec: { cancel: true } };
  await harness.client.patch(workflowRuns, { namespace, name: 'cancelled' }, cancel, { type: 'merge' });
  await harness.client.delete(workflowRuns, { namespace, name: 'deleted' });
  expect(await ended(namespace, 'cancelled')).toMatchObject({ phase: 'Cancelled', reason: 'Cancelled' });
  await closed(namespace);
  for (const path of paths) expect((await call(path, token('tested'))).status).toBe(404);
  expect(await readRun(harness.conn, uid, 'cancelled')).toBeUndefined();
  expect(await readRun(harness.conn, uid, 'deleted')).toBeUndefined();
});

test('a response node answers the sender of the event', async () => {
  const { namespace } = await project();
  const response = { id: 'answer', response: { body: 'drafted' } };
  const { nodes } = draftWith(undefined, { replyTimeout: '1s' });
  await create(namespace, 'listens', { draft: { nodes: [...nodes, response] } });
  const path = await listening(namespace, 'listens');
  // No runner executes it: what is proven is that the sender waits for the reply of this run.
  const answer = await call(path);
  expect([answer.status, await codeOf(answer)]).toEqual([504, 'reply-timeout']);
});

test.each([
  {
    what: 'a trigger that is no webhook',
    draft: { nodes: [{ id: 'trigger', manual: {} }, SET] },
    says: /kind manual/,
  },
  { what: 'a Secret that is missing', draft: draftWith(bearer('nothing')), says: /hooks.*nothing/ },
])('$what cannot listen, and the run says why', async ({ draft, says }) => {
  const { namespace } = await project();
  await create(namespace, 'listens', { draft });
  expect(await ended(namespace, 'listens')).toMatchObject({
    phase: 'Failed',
    reason: 'CannotListen',
    message: expect.stringMatching(says),
  });
});

test('an invalid draft opens no URL, and neither does an invalid workflow', async () => {
  const { namespace } = await project();
  const invalid = {
    ...SET,
    skill: { name: 'set', parameters: { values: { a: "{{ $('nobody').text_content }}" } } },
  };
  const spec = { active: true, nodes: [...draftWith().nodes.slice(0, 1), invalid] };
  await create(namespace, 'drafted', { draft: { nodes: spec.nodes } });
  expect(await ended(namespace, 'drafted')).toMatchObject({ phase: 'Failed', reason: 'DraftInvalid' });
  const object = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'orders' },
    spec,
  };
  await harness.apply(namespace, stringify(object));
  await harness.waitFor(namespace, 'orders', { type: 'Valid', status: 'False' });
  await create(namespace, 'published', {});
  expect(await ended(namespace, 'published')).toMatchObject({ phase: 'Failed', reason: 'WorkflowInvalid' });
  expect(await routesOf(namespace)).toEqual(['orders']);
});

test('a run goes on listening when the run store has lost it', async () => {
  const { namespace, uid } = await project();
  await create(namespace, 'listens', { draft: draftWith() });
  const path = await listening(namespace, 'listens');
  await harness.redisCommand('flushall');
  const accepted = async () => (await call(path)).status === 200;
  await pollUntil('the event being accepted', accepted, { timeoutMs: 40_000, everyMs: 250 });
  expect((await call(path)).status).toBe(410);
  expect(await readRun(harness.conn, uid, 'listens')).toMatchObject({ test: true, trigger: 'webhook' });
});

test('a run listens across restarts of a gateway and the operator and an outage, and its event starts it once', async () => {
  const { namespace, uid } = await project();
  await create(namespace, 'listens', {});
  const path = await listening(namespace, 'listens');
  const sent = token('live');
  await gateways[0]?.stop('SIGKILL');
  harness.redis.freeze();
  expect((await call(path, sent, 1)).status).toBe(503);
  await harness.stopOperator();
  harness.redis.thaw();
  harness.startOperator();
  gateways[0] = await webhooks.startGateway();
  // The call that got 503 may have taken the run without submitting it: then it is offered again after some
  // time, and the sender gets 410 meanwhile.
  const run = await pollUntil(
    'the run having begun',
    async () => {
      await call(path, { ...sent, body: '{"order":1}' });
      return (await readRun(harness.conn, uid, 'listens')) ?? false;
    },
    AFTER_RESTART,
  );
  expect(run).toMatchObject({ run: 'listens', test: true });
  expect((await call(path, sent, 1)).status).toBeOneOf([410, 404]);
}, 150_000);

test('of a project at most ten runs listen at a time, however many are created at once', async () => {
  const { namespace } = await project();
  const names = Array.from({ length: 11 }, (_, n) => `listens-${n}`);
  await Promise.all(names.map((name) => create(namespace, name, { draft: draftWith() })));
  const refused = await pollUntil(
    'one run being refused',
    async () => {
      const statuses = await Promise.all(names.map((name) => statusOf(namespace, name)));
      return statuses.find(({ phase }) => phase === 'Failed') ?? false;
    },
    SOON,
  );
  expect(refused).toMatchObject({
    reason: 'CannotListen',
    message: expect.stringMatching(/^10 test runs listen/),
  });
  const others = async () => {
    const statuses = await Promise.all(names.map((name) => statusOf(namespace, name)));
    return statuses.filter(({ phase, listening: at }) => phase === 'Pending' && at).length === 10;
  };
  await pollUntil('ten runs listening', others, SOON);
});
