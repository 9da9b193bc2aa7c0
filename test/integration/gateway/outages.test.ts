import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { leases } from '../../../kube/resource.ts';
import { openProject } from '../../../runs/project.ts';
import { setQuota } from '../../support/runStore/calls.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { readCounts, readRun } from '../../../runs/read.ts';
import { startGateway } from '../../support/gateway/gatewayProcess.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { runCommand } from '../../support/process/command.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startGatewayHarness({ apiServerArgs: [] });
  await putRoute(harness.client, 'orders');
  await putRoute(harness.client, 'asking', { webhook: { reply: true } });
  await pollUntil('the routes', async () => (await fetch(harness.hook('asking'))).status === 405, {
    timeoutMs: 20_000,
  });
});

beforeEach(async () => {
  await pollUntil('an event being accepted', async () => (await send()).status === 200, {
    timeoutMs: 10_000,
  });
});

afterAll(() => harness.close());

function send(workflow = 'orders', headers: Record<string, string> = {}): Promise<Response> {
  return fetch(harness.hook(workflow), {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
  });
}

/**
 * Sends one, and gives the code of the problem that it is refused with, within two seconds, with Retry-After.
 */
async function refusal(): Promise<string | undefined> {
  const took = stopwatch();
  const answer = await send();
  const { type } = (await answer.json()) as { type?: string };
  expect(took()).toBeLessThan(2_000);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  return type?.replace('tag:windlass.dev,2026:problem/', '');
}

test('while the run store is down every call is refused within two seconds, and no accepted event is lost', async () => {
  const { run } = (await (await send()).json()) as { run: string };
  await harness.redis.kill();
  expect(await refusal()).toBe('run-store-unavailable');
  const many = await Promise.all(Array.from({ length: 50 }, refusal));
  expect(new Set(many)).toEqual(new Set(['run-store-unavailable']));
  await harness.redis.restart();
  await pollUntil('an event being accepted again', async () => (await send()).status === 200, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
  await harness.runs.ready();
  const state = await readRun(harness.runs, PROJECT, run);
  expect(state !== undefined && !isUnavailable(state) && state.run).toBe(run);
});

test('a frozen run store counts as unavailable', async () => {
  harness.redis.freeze();
  try {
    expect(await refusal()).toBe('run-store-unavailable');
  } finally {
    harness.redis.thaw();
  }
  await pollUntil('an event being accepted again', async () => (await send()).status === 200, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
});

test('an event whose answer was lost runs once when it is repeated with its key', async () => {
  const key = { 'idempotency-key': 'answer-lost' };
  const before = await activeRuns();
  harness.redis.freeze();
  const lost = await send('orders', key).finally(() => harness.redis.thaw());
  expect(lost.status).toBe(503);
  expect(((await lost.json()) as { detail: string }).detail).toContain('may have been accepted');
  const again = () => send('orders', key);
  await pollUntil('the event being accepted', async () => (await again()).status === 200, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
  expect(await activeRuns()).toBe(before + 1);
});

/** How many runs of the workflow are under way: nobody claims them here. */
async function activeRuns(): Promise<number> {
  await harness.runs.ready();
  const counts = await readCounts(harness.runs, PROJECT, workflowUid('orders'));
  if (isUnavailable(counts)) throw new Error('the run store does not answer');
  return counts.active;
}

test('a wiped run store accepts nothing until it is opened again', async () => {
  await runCommand('redis-cli', ['-p', String(harness.redis.port), 'flushall']);
  expect(await refusal()).toBe('run-store-unavailable');
  await openProject(harness.runs, PROJECT);
  expect((await send()).status).toBe(200);
});

test('a full project accepts no events', async () => {
  await setQuota(harness.runs, PROJECT, 1);
  expect(await refusal()).toBe('run-store-full');
  await setQuota(harness.runs, PROJECT, 64 * 2 ** 20);
  expect((await send()).status).toBe(200);
});

test('SIGTERM: readiness goes, calls are still taken, whoever waits is waited for as long as was said, then the Lease is gone', async () => {
  const pod = 'gateway-leaving';
  const leaving = await startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod,
    namespace: NAMESPACE,
    env: { DRAIN_SECONDS: '1', CLOSE_SECONDS: '5' },
  });
  const hook = (workflow: string) => `${leaving.publicURL}/webhook/${NAMESPACE}.${workflow}/new`;
  const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  const toldAt = performance.now();
  const waiting = fetch(hook('asking'), { ...post, signal: AbortSignal.timeout(20_000) }).then(
    () => ({ end: 'answered', afterMs: 0 }),
    ({ name }: Error) => ({ end: name, afterMs: performance.now() - toldAt }),
  );
  const stopped = leaving.stop();
  const ready = async () => (await fetch(`${leaving.internalURL}/readyz`)).status;
  await pollUntil('readiness going', async () => (await ready()) === 503, { timeoutMs: 20_000, everyMs: 10 });
  const answer = await fetch(hook('orders'), post);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('connection')).toBe('close');
  // Nobody answers that one: its connection is closed, before it gives up by itself.
  const { end, afterMs } = await waiting;
  expect(end).toBe('TypeError');
  expect(afterMs).toBeGreaterThan(5_000);
  expect(await stopped).toBe(0);
  expect(
    await harness.client.find(leases, { namespace: NAMESPACE, name: `windlass-gateway-${pod}` }),
  ).toBeUndefined();
});

test('without the API server webhooks are accepted, the replica stays ready, and execute calls are refused', async () => {
  await harness.api.stop();
  expect((await send()).status).toBe(200);
  const execute = await fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.orders/execute`, {
    method: 'POST',
    headers: { authorization: 'Bearer somebody' },
  });
  expect(execute.status).toBe(503);
  expect(((await execute.json()) as { type: string }).type).toBe(
    'tag:windlass.dev,2026:problem/cluster-unavailable',
  );
  expect((await fetch(`${harness.gateway.internalURL}/readyz`)).status).toBe(200);
  expect((await send('unknown')).status).toBe(404);
});
