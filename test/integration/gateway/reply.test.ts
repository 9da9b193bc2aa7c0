import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { claimRuns } from '../../../runs/claim.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { Reply } from '../../../runs/types/result.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readRun } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { openProject } from '../../../runs/project.ts';
import { runCommand } from '../../support/process/command.ts';
import {
  startGatewayHarness,
  PROJECT,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startGatewayHarness();
  await putRoute(harness.client, 'asking', { webhook: { reply: true } });
  await putRoute(harness.client, 'hurried', { webhook: { reply: true, replyTimeoutSeconds: 1 } });
  await pollUntil('the routes', async () => (await fetch(harness.hook('hurried'))).status === 405, {
    timeoutMs: 20_000,
  });
});

afterAll(() => harness?.close());

function send(
  workflow: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(harness.hook(workflow), {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', ...headers },
    ...(signal && { signal }),
  });
}

/** Plays the runner: takes the next run. */
function claimNext(): Promise<ClaimRef> {
  return pollUntil(
    'a run to claim',
    async () => {
      const claimed = await claimRuns(harness.runs, { project: PROJECT, runner: 'test', max: 1 });
      const [claim] = claimed.outcome === 'claimed' ? claimed.claims : [];
      return claim && { project: PROJECT, run: claim.state.run, token: claim.token };
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );
}

const REPLY: Reply = {
  status: 201,
  headers: { 'x-order': '4711' },
  body: '{"summary":"Thank you."}',
  contentType: 'application/json',
};

test('the caller gets the reply of the response node while the run continues', async () => {
  const answering = send('asking');
  const ref = await claimNext();
  await advance(harness.runs, ref, { reply: REPLY });
  const answer = await answering;
  expect(answer.status).toBe(201);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-order')).toBe('4711');
  expect(await answer.text()).toBe(REPLY.body);
  await advance(harness.runs, ref, { end: { phase: 'Succeeded' } });
});

test('a page that a response node defines is sandboxed, and sets nothing for the whole host', async () => {
  const answering = send('asking');
  const ref = await claimNext();
  const headers = {
    'Set-Cookie': 'a=b',
    'Strict-Transport-Security': 'max-age=1',
    NEL: '{"report_to":"evil","max_age":31536000}',
    'Report-To': '{"group":"evil","max_age":31536000}',
    'Reporting-Endpoints': 'evil="https://evil.example"',
    'X-Accel-Redirect': '/internal',
    'Content-Security-Policy': "script-src 'unsafe-inline'",
    Connection: 'upgrade',
    'bad name': 'x',
    'x-bad': 'a\nb',
  };
  await advance(harness.runs, ref, {
    reply: { status: 200, headers, body: '<script>1</script>', contentType: 'text/html' },
    end: { phase: 'Succeeded' },
  });
  const answer = await answering;
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-security-policy')).toBe('sandbox');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const withheld = ['set-cookie', 'strict-transport-security', 'nel', 'report-to', 'reporting-endpoints'];
  for (const name of [...withheld, 'x-accel-redirect', 'x-bad']) expect(answer.headers.get(name)).toBeNull();
  expect(answer.headers.get('connection')).not.toBe('upgrade');
  expect(await answer.text()).toBe('<script>1</script>');
});

test.each([204, 304])('an answer with status %i has no content', async (status) => {
  const answering = send('asking');
  await advance(harness.runs, await claimNext(), {
    reply: { ...REPLY, status },
    end: { phase: 'Succeeded' },
  });
  const answer = await answering;
  expect(answer.status).toBe(status);
  expect(await answer.text()).toBe('');
});

test('a run that succeeds without a response node is answered with its name', async () => {
  const answering = send('asking');
  const ref = await claimNext();
  await advance(harness.runs, ref, { end: { phase: 'Succeeded' } });
  const answer = await answering;
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ run: ref.run });
});

test.each(['Failed', 'Cancelled'] as const)(
  'a run that ends as %s without an answer is a 502 with its name',
  async (phase) => {
    const answering = send('asking');
    const ref = await claimNext();
    await advance(harness.runs, ref, { end: { phase, reason: 'NodeFailed', message: 'c4n4ry' } });
    const answer = await answering;
    expect(answer.status).toBe(502);
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({
      type: 'tag:windlass.dev,2026:problem/run-failed',
      run: ref.run,
    });
    expect(body).not.toContain('c4n4ry');
  },
);

test('a run that takes too long gets 504 with its name, and continues', async () => {
  const answer = await send('hurried');
  expect(answer.status).toBe(504);
  const { run } = (await answer.json()) as { run: string };
  const ref = await claimNext();
  expect(ref.run).toBe(run);
  expect(await advance(harness.runs, ref, { end: { phase: 'Succeeded' } })).toMatchObject({
    outcome: 'done',
  });
});

test('a repeated request gets the same answer, while the run works and after it', async () => {
  const key = { 'idempotency-key': 'once' };
  const both = [send('asking', key), send('asking', key)];
  const ref = await claimNext();
  await advance(harness.runs, ref, { reply: REPLY, end: { phase: 'Succeeded' } });
  const answers = [...(await Promise.all(both)), await send('asking', key)];
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('x-order'), await answer.text()]).toEqual([
      201,
      '4711',
      REPLY.body,
    ]);
  }
});

/** Takes a run out of the store as its recording does, while its key stays. */
async function forget(run: string): Promise<void> {
  await runCommand('redis-cli', ['-p', String(harness.redis.port), 'del', keysOf(PROJECT).run(run)]);
  expect(await readRun(harness.runs, PROJECT, run)).toBeUndefined();
}

test.each([
  ['failed', 'Failed', 502],
  ['was cancelled', 'Cancelled', 502],
  ['succeeded', 'Succeeded', 200],
] as const)(
  'a repeated request whose run %s without a reply gets the same answer, also once the run is recorded',
  async (_what, phase, status) => {
    const key = { 'idempotency-key': `recorded-${phase}` };
    const first = send('asking', key);
    const ref = await claimNext();
    await advance(harness.runs, ref, { end: { phase } });
    expect((await first).status).toBe(status);
    const state = await readRun(harness.runs, PROJECT, ref.run);
    if (!state || isUnavailable(state)) throw new Error('the run is not there');
    expect(await recorded(harness.runs, state, 'written')).toBe('recorded');
    await forget(ref.run);
    const repeated = await send('asking', key);
    expect(repeated.status).toBe(status);
    expect(await repeated.json()).toMatchObject({ run: ref.run });
  },
);

test('a repeated request whose run left the run store gets 202', async () => {
  const key = { 'idempotency-key': 'failed' };
  const first = send('asking', key);
  const ref = await claimNext();
  await advance(harness.runs, ref, { end: { phase: 'Failed', reason: 'NodeFailed' } });
  expect((await first).status).toBe(502);
  await forget(ref.run);
  const repeated = await send('asking', key);
  expect(repeated.status).toBe(202);
  expect(await repeated.json()).toEqual({ run: ref.run });
});

test('a caller whose run is lost while it waits gets 504 outcome-unknown', async () => {
  const answering = send('asking');
  const { run } = await claimNext();
  await pollUntil('a waiter', async () => (await waiters()) === '1', { timeoutMs: 20_000, everyMs: 10 });
  await runCommand('redis-cli', ['-p', String(harness.redis.port), 'flushall']);
  const answer = await answering;
  expect(answer.status).toBe(504);
  expect(await answer.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/outcome-unknown', run });
  await openProject(harness.runs, PROJECT, { quotaBytes: 64 * 2 ** 20 });
});

async function waiters(): Promise<string | undefined> {
  const text = await (await fetch(harness.gateway.metricsURL)).text();
  return /^windlass_gateway_waiters (\d+)$/m.exec(text)?.[1];
}

test('a caller that disconnects no longer waits, and its run continues', async () => {
  const leaving = new AbortController();
  const answering = send('asking', {}, leaving.signal);
  const ref = await claimNext();
  leaving.abort();
  await expect(answering).rejects.toThrow('aborted');
  await pollUntil('no waiter', async () => (await waiters()) === '0', { timeoutMs: 20_000 });
  expect(await advance(harness.runs, ref, { reply: REPLY, end: { phase: 'Succeeded' } })).toMatchObject({
    outcome: 'done',
  });
});
