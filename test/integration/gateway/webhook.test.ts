import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANNOTATION } from '../../../api/group.ts';
import { agrees, emptyDigest, toggle } from '../../../api/routes.ts';
import { webhookRoutes } from '../../../gateway/routing/follow.ts';
import { leases } from '../../../kube/resource.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { offerListening } from '../../../runs/listening.ts';
import { readRun } from '../../../runs/read.ts';
import type { RunState } from '../../../runs/types/run.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  POD,
  PROJECT,
  putRoute,
  removeRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startGatewayHarness();
  await Promise.all([
    putRoute(harness.client, 'orders'),
    putRoute(harness.client, 'deliveries', { webhook: { dedupeHeader: 'x-delivery', headers: ['x-event'] } }),
  ]);
  await Promise.all(['orders', 'deliveries'].map((workflow) => served(workflow, true)));
});

afterAll(() => harness?.close());

const JSON_TYPE = { 'content-type': 'application/json' };

function send(workflow: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(harness.hook(workflow), { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
}

/** Waits until the webhook is there, or is not: without making a run. */
async function served(workflow: string, there: boolean, timeoutMs = 5_000): Promise<void> {
  await pollUntil(
    `${workflow} being served: ${there}`,
    async () => ((await fetch(harness.hook(workflow))).status === 405) === there,
    { timeoutMs, everyMs: 10 },
  );
}

async function stored(run: string): Promise<RunState> {
  const state = await readRun(harness.runs, PROJECT, run);
  if (state === undefined || isUnavailable(state)) throw new Error(`${run} is not in the run store`);
  return state;
}

async function accepted(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as { run: string };
  expect(Object.keys(body)).toEqual(['run']);
  return body.run;
}

test('an event answered with 200 is stored byte for byte', async () => {
  const body = ' {"b":[10000000000000000999, 1E-999, -0], "a" : {"ü":"\\u00fc\\n"}}\n';
  const state = await stored(await accepted(await send('orders', body)));
  expect(state).toMatchObject({
    workflow: 'orders',
    workflowUid: workflowUid('orders'),
    revision: 'orders-1',
    trigger: 'webhook',
    test: false,
    phase: 'Pending',
  });
  expect(state.input).toBe(`{"text_content":"","data_content":${body}}`);
});

test.each(['1', 'null', '"text"', '[]', '{}'])('%s is an event like any other', async (body) => {
  const state = await stored(await accepted(await send('orders', body)));
  expect(JSON.parse(state.input)).toEqual({ text_content: '', data_content: JSON.parse(body) as unknown });
});

test('an event may be as large as a value of the run store, and is refused beyond that', async () => {
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
  const largest = 524_288 - Buffer.byteLength('{"text_content":"","data_content":}');
  expect((await send('orders', text(largest))).status).toBe(200);
  const code = async (bytes: number) => {
    const answer = await send('orders', text(bytes));
    expect(answer.status).toBe(413);
    return ((await answer.json()) as { type: string }).type.split('/').at(-1);
  };
  expect(await code(largest + 1)).toBe('event-too-large');
  expect(await code(1_048_576)).toBe('event-too-large');
  expect(await code(1_048_577)).toBe('too-large');
});

test('each call without a key is a new event', async () => {
  const runs = await Promise.all(Array.from({ length: 20 }, () => send('orders', '{}').then(accepted)));
  expect(new Set(runs).size).toBe(20);
});

test('one key is one run, however often it is sent concurrently', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      send('orders', '{"a":1}', { 'idempotency-key': 'order 4711' }).then(accepted),
    ),
  );
  expect(new Set(answers).size).toBe(1);
  const other = await send('orders', '{"a":1}', { 'idempotency-key': 'order 4712' });
  expect(await accepted(other)).not.toBe(answers[0]);
});

test('a key with another body is refused, and starts nothing', async () => {
  await accepted(await send('orders', '{"a":1}', { 'idempotency-key': 'reused' }));
  const answer = await send('orders', '{"a":2}', { 'idempotency-key': 'reused' });
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/key-reused' });
});

test('the same key for another workflow is another event', async () => {
  const [one, two] = await Promise.all(
    ['orders', 'deliveries'].map((workflow) =>
      send(workflow, '{}', { 'idempotency-key': 'shared' }).then(accepted),
    ),
  );
  expect(one).not.toBe(two);
});

test('a workflow can name the header with the dedupe key, and the headers that nodes read', async () => {
  const headers = { 'x-delivery': 'd-1', 'x-event': 'push', 'x-secret': 'no' };
  const first = await accepted(await send('deliveries', '{}', headers));
  expect(await accepted(await send('deliveries', '{}', headers))).toBe(first);
  const state = await stored(first);
  expect(JSON.parse(state.input)).toEqual({
    text_content: '',
    data_content: {},
    headers: { 'x-event': 'push' },
  });
  // Where it is not named, the header says nothing.
  const [one, two] = await Promise.all([send('orders', '{}', headers), send('orders', '{}', headers)]);
  expect(await accepted(one)).not.toBe(await accepted(two));
});

test('a workflow that rejects above its limit answers 429 with Retry-After', async () => {
  await putRoute(harness.client, 'busy');
  await served('busy', true);
  const limits = {
    workflowUid: workflowUid('busy'),
    concurrency: 1,
    policy: 'Reject',
    deadlineMs: 60_000,
  } as const;
  await setWorkflowLimits(harness.runs, PROJECT, limits);
  await accepted(await send('busy', '{}'));
  const answer = await send('busy', '{}');
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  await removeRoute(harness.client, 'busy');
});

/** Offers a test run of `orders` at its route, as the operator would, and waits until that is served. */
async function listening(run: string): Promise<void> {
  const recordUid = `uid-of-${run}`;
  const webhook = { path: `test-${run}`, reply: false, replyTimeoutSeconds: 30 };
  await harness.client.apply(webhookRoutes, {
    metadata: { namespace: NAMESPACE, name: recordUid },
    spec: {
      workflow: 'orders',
      workflowUID: recordUid,
      projectUID: PROJECT,
      testRun: run,
      revision: 'orders-2',
      trigger: 'webhook',
      active: false,
      webhook,
    },
  });
  const target = { workflow: 'orders', workflowUid: workflowUid('orders'), revision: 'orders-2' };
  expect(await offerListening(harness.runs, PROJECT, { run, recordUid, ...target }, 60_000)).toEqual({
    outcome: 'done',
  });
  const isServed = async () => (await fetch(testURL(run))).status === 405;
  await pollUntil('the test run being served', isServed, { timeoutMs: 5_000, everyMs: 10 });
}

const testURL = (run: string) => harness.hook('orders').replace(/new$/, `test-${run}`);
const sendTest = (run: string, body: string) =>
  fetch(testURL(run), { method: 'POST', body, headers: { ...JSON_TYPE, 'idempotency-key': 'same' } });

test('a test run takes one event, whatever its key, and leaves live events alone', async () => {
  await listening('listens-once');
  expect(await accepted(await sendTest('listens-once', '{"n":1}'))).toBe('listens-once');
  expect((await sendTest('listens-once', '{"n":1}')).status).toBe(410);
  expect(await stored('listens-once')).toMatchObject({ test: true, revision: 'orders-2' });
  const live = await accepted(await send('orders', '{"n":1}', { 'idempotency-key': 'same' }));
  expect(await stored(live)).toMatchObject({ test: false, revision: 'orders-1' });
});

test('a test run whose event is refused goes on listening', async () => {
  await listening('listens-again');
  const limits = {
    workflowUid: workflowUid('orders'),
    concurrency: 0,
    policy: 'Queue',
    deadlineMs: 60_000,
  } as const;
  await setWorkflowLimits(harness.runs, PROJECT, { ...limits, suspended: true });
  expect((await sendTest('listens-again', 'not JSON')).status).toBe(400);
  expect((await sendTest('listens-again', '{}')).status).toBe(404);
  await setWorkflowLimits(harness.runs, PROJECT, { ...limits, suspended: false });
  expect(await accepted(await sendTest('listens-again', '{}'))).toBe('listens-again');
});

test('a deactivated workflow is not found within two seconds, and returns at the same URL', async () => {
  await putRoute(harness.client, 'toggled');
  await served('toggled', true, 2_000);
  await putRoute(harness.client, 'toggled', { active: false });
  await served('toggled', false, 2_000);
  expect((await send('toggled', '{}')).status).toBe(404);
  await putRoute(harness.client, 'toggled');
  await served('toggled', true, 2_000);
  await removeRoute(harness.client, 'toggled');
  await served('toggled', false, 2_000);
});

/** What the replica says in its Lease, as the operator reads it. */
async function acknowledges(uid: string, generation: number): Promise<boolean> {
  const lease = await harness.client.get(leases, { namespace: NAMESPACE, name: `windlass-gateway-${POD}` });
  const routes = await harness.client.list(webhookRoutes);
  const digest = emptyDigest();
  for (const { metadata } of routes.items) toggle(digest, metadata.uid ?? '', metadata.generation ?? 0);
  if (!routes.items.some(({ metadata }) => metadata.uid === uid)) toggle(digest, uid, generation);
  return agrees(lease.metadata.annotations?.[ANNOTATION.routes], digest, uid);
}

test('a route is acknowledged in the Lease exactly while it is served', async () => {
  const { metadata } = await putRoute(harness.client, 'acknowledged');
  const { uid = '', generation = 0 } = metadata;
  await pollUntil('the acknowledgement', () => acknowledges(uid, generation), {
    timeoutMs: 20_000,
    everyMs: 20,
  });
  // The very next request is answered.
  expect((await send('acknowledged', '{}')).status).toBe(200);
  await removeRoute(harness.client, 'acknowledged');
  await pollUntil('the end of it', async () => !(await acknowledges(uid, generation)), {
    timeoutMs: 20_000,
    everyMs: 20,
  });
  expect((await send('acknowledged', '{}')).status).toBe(404);
});

test('the Lease has labels, pod and process, and is deleted with them', async () => {
  const lease = await harness.client.get(leases, { namespace: NAMESPACE, name: `windlass-gateway-${POD}` });
  expect(lease.metadata.labels).toMatchObject({ 'app.kubernetes.io/component': 'gateway' });
  expect(lease.spec?.holderIdentity).toMatch(new RegExp(`^${POD}_[0-9a-f-]{36}$`));
});

test('the metrics count answers and durations', async () => {
  const text = await (await fetch(harness.gateway.metricsURL)).text();
  expect(text).toMatch(/^windlass_gateway_requests_total\{route="webhook",status="200"\} [1-9]\d*$/m);
  expect(text).toMatch(/^windlass_gateway_accept_seconds_count [1-9]\d*$/m);
  expect(text).toMatch(/^windlass_gateway_routes [1-9]\d*$/m);
});
