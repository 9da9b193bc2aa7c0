/** `POST /callback/{token}` of a real gateway, with a runner: what resumes a run, and all that does not. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { callbackToken, type CallbackTarget } from '../../../api/callback.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { Runner } from '../../../runner/runner.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readRun } from '../../../runs/read.ts';
import { openProject } from '../../../runs/project.ts';
import { restoreRun } from '../../../runs/restore.ts';
import { getRevision, putRevision } from '../../../runs/revisions.ts';
import { submit } from '../../../runs/submit.ts';
import type { RunState } from '../../../runs/types/run.ts';
import { putCallbackSettings } from '../../../store/callbacks.ts';
import { keysOf } from '../../../store/keys.ts';
import {
  PROJECT,
  putRoute,
  startGatewayHarness,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const older = { id: 'older', key: Buffer.alloc(32, 1) };
const key = { id: 'current', key: Buffer.alloc(32, 2) };
const settings = { url: 'https://hooks.example.com', key, keys: [key, older] };

let harness: GatewayHarness;
let runner: Runner;
beforeAll(async () => {
  harness = await startGatewayHarness();
  await putCallbackSettings(harness.runs, PROJECT, settings);
  await putRoute(harness.client, 'orders');
  await pollUntil('the route', async () => (await fetch(harness.hook('orders'))).status === 405, {
    timeoutMs: 10_000,
    everyMs: 20,
  });
});
afterAll(() => harness?.close());
beforeEach(() => void (runner = startTestRunner(harness.runs, PROJECT)));
afterEach(() => runner.stop(0));

type Sent = { token: string; body?: string; method?: string; headers?: Record<string, string> };

const urlOf = (token: string) => `${harness.gateway.publicURL}/callback/${token}`;
const call = ({ token, body = '{"ok":true}', method = 'POST', headers = {} }: Sent) =>
  fetch(urlOf(token), {
    method,
    ...(method === 'POST' && { body }),
    headers: { 'content-type': 'application/json', ...headers },
  });
const statusOf = async (sent: Sent) => (await call(sent)).status;
const codeOf = async (answer: Response) => ((await answer.json()) as { type: string }).type.split('/').at(-1);

async function stateOf(run: string): Promise<RunState> {
  const state = await readRun(harness.runs, PROJECT, run);
  if (!state || 'outcome' in state) throw new Error(`${run} is not in the run store`);
  return state;
}

const until = (run: string, is: (state: RunState) => boolean) =>
  pollUntil(
    `the run ${run}`,
    async () => {
      const state = await stateOf(run);
      return is(state) ? state : undefined;
    },
    { timeoutMs: 20_000, everyMs: 10 },
  );
const phaseOf = ({ nodes }: RunState, id: string) => nodes.find((node) => node.id === id)?.phase;

/** A run that waits at its node `approve`, and after it at `second`. */
async function waitingRun(
  callback: object = {},
): Promise<{ run: string; target: CallbackTarget; token: string }> {
  const nodes = [
    { id: 'trigger', webhook: { path: 'new' } },
    { id: 'approve', wait: { callback }, onError: 'Continue' },
    { id: 'second', wait: { callback: {} } },
  ];
  const revision = `orders-${randomUUID().slice(0, 8)}`;
  const uid = workflowUid('orders');
  await putRevision(harness.runs, PROJECT, revision, revisionOf({ nodes } as unknown as WorkflowSpec));
  await setWorkflowLimits(harness.runs, PROJECT, {
    workflowUid: uid,
    policy: 'Queue',
    deadlineMs: 3_600_000,
  });
  const submitted = await submit(harness.runs, {
    project: PROJECT,
    workflow: 'orders',
    workflowUid: uid,
    revision,
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{}}',
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error('not accepted');
  const { acceptedAt } = await until(submitted.run, (state) => phaseOf(state, 'approve') === 'Waiting');
  const target = { run: submitted.run, acceptedAt, node: 'approve' };
  return { run: submitted.run, target, token: callbackToken(PROJECT, key, target) };
}

test('one call resumes the run with its body, digits included, and a repetition gets the same answer', async () => {
  const { run, token } = await waitingRun();
  const first = await call({ token, body: '{"id":12345678901234567890}' });
  expect([first.status, await first.json()]).toEqual([200, { run, node: 'approve', received: true }]);
  const state = await until(run, (one) => phaseOf(one, 'second') === 'Waiting');
  expect(JSON.stringify(state.nodes.find(({ id }) => id === 'approve')?.output)).toContain(
    '12345678901234567890',
  );
  const sequence = (await stateOf(run)).sequence;
  const again = await call({ token, body: '{"id":2}' });
  expect([again.status, await again.json()]).toEqual([200, { run, node: 'approve', received: true }]);
  expect((await stateOf(run)).sequence).toBe(sequence);
});

test('a hundred calls at once resume the run once, and all get the same answer', async () => {
  const { run, token } = await waitingRun();
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => call({ token, body: String(index) })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const state = await until(run, (one) => phaseOf(one, 'second') === 'Waiting');
  const value = state.nodes.find(({ id }) => id === 'approve')?.output?.data_content;
  expect(typeof value).toBe('number');
  expect((await stateOf(run)).signaled).toBe('1 approve');
});

test('a call before the node is reached is stored, and completes the node when it is', async () => {
  const { run, target, token } = await waitingRun();
  const early = callbackToken(PROJECT, key, { ...target, node: 'second' });
  expect(await statusOf({ token: early, body: '"early"' })).toBe(200);
  expect(await statusOf({ token })).toBe(200);
  const state = await until(run, ({ phase }) => phase === 'Succeeded');
  expect(state.nodes.find(({ id }) => id === 'second')?.output?.data_content).toBe('early');
});

test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('%s changes nothing', async (method) => {
  const { run, token } = await waitingRun();
  const before = await stateOf(run);
  const answer = await call({ token, method });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  expect(await stateOf(run)).toEqual(before);
});

test('opening the URL answers that only a POST ends the wait', async () => {
  const { token } = await waitingRun();
  expect(await (await call({ token, method: 'GET' })).text()).toContain('Opening this URL changes nothing');
});

test('a forged or changed token gets 404, the same bytes for all, and reaches no run', async () => {
  const { run, target, token } = await waitingRun();
  const [scheme, project, id, text = '', mac = ''] = token.split('.');
  const other = Buffer.from(JSON.stringify([run, target.acceptedAt, 'second'])).toString('base64url');
  const forged = [
    callbackToken(PROJECT, { ...key, key: Buffer.alloc(32, 3) }, target),
    callbackToken(PROJECT, { id: 'unknown', key: key.key }, target),
    callbackToken('another-project', key, target),
    [scheme, project, 'older', text, mac].join('.'),
    [scheme, project, id, other, mac].join('.'),
    token.slice(0, -1),
    `${token}x`,
    'wlc',
  ];
  const before = await stateOf(run);
  const answers = await Promise.all(forged.map((one) => call({ token: one })));
  expect(answers.map(({ status }) => status)).toEqual(forged.map(() => 404));
  expect(new Set(await Promise.all(answers.map(codeOf)))).toEqual(new Set(['callback-unknown']));
  expect(await stateOf(run)).toEqual(before);
});

test('a URL that an older key has signed still works', async () => {
  const { target } = await waitingRun();
  expect(await statusOf({ token: callbackToken(PROJECT, older, target) })).toBe(200);
});

test('a genuine URL of a run that ended, was cancelled, does not exist or has a new namesake gets 410', async () => {
  const { run, target, token } = await waitingRun();
  await cancelRun(harness.runs, PROJECT, run);
  const over = await call({ token });
  expect([over.status, await codeOf(over)]).toEqual([410, 'callback-over']);
  const never = callbackToken(PROJECT, key, { ...target, run: 'orders-never' });
  expect(await statusOf({ token: never })).toBe(410);
  const living = await waitingRun();
  const namesake = callbackToken(PROJECT, key, { ...living.target, acceptedAt: 1 });
  expect(await statusOf({ token: namesake })).toBe(410);
});

test('a call after the timeout of its node gets 410, also while the run continues', async () => {
  const { run, token } = await waitingRun({ timeout: '1s' });
  await until(run, (state) => phaseOf(state, 'second') === 'Waiting');
  expect(await statusOf({ token })).toBe(410);
});

test.each<[what: string, sent: Omit<Sent, 'token'>, status: number, code: string]>([
  ['no JSON', { body: '{' }, 400, 'bad-json'],
  ['an empty body', { body: '' }, 400, 'bad-json'],
  ['another type', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported-media-type'],
  ['a forbidden key', { body: '{"__proto__":1}' }, 422, 'forbidden-key'],
  ['64 KiB and a byte', { body: JSON.stringify('x'.repeat(65_535)) }, 413, 'callback-too-large'],
  ['10 MB', { body: JSON.stringify('x'.repeat(10_000_000)) }, 413, 'callback-too-large'],
])('%s is refused, and the run still takes a call', async (_, sent, status, code) => {
  const { run, token } = await waitingRun();
  const answer = await call({ token, ...sent });
  expect([answer.status, await codeOf(answer)]).toEqual([status, code]);
  expect(phaseOf(await stateOf(run), 'approve')).toBe('Waiting');
  expect(await statusOf({ token, body: JSON.stringify('x'.repeat(65_534)) })).toBe(200);
});

test('while the run store has lost its data and is seeded, a genuine call gets 503 with Retry-After', async () => {
  const { token } = await waitingRun();
  const { meta } = keysOf(PROJECT);
  const id = (await harness.runs.command('hget', meta, 'id')) as string;
  await harness.runs.command('hdel', meta, 'id');
  const answer = await call({ token });
  await harness.runs.command('hset', meta, 'id', id);
  expect([answer.status, await codeOf(answer)]).toEqual([503, 'callback-unavailable']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await statusOf({ token })).toBe(200);
});

test('after the run store lost its data, a restored run still waits, and its URL works', async () => {
  const { run, token } = await waitingRun();
  const { runs } = harness;
  const state = await stateOf(run);
  const { revision, nodes, acceptedAt, startedAt, epoch, sequence, input, workflowUid: uid } = state;
  const stored = await getRevision(runs, PROJECT, revision);
  if (!stored || 'outcome' in stored) throw new Error('the revision is not in the run store');
  await runner.stop(0);
  await runs.command('flushall');
  expect(await statusOf({ token })).toBe(503);
  await openProject(runs, PROJECT);
  await putCallbackSettings(runs, PROJECT, settings);
  await putRevision(runs, PROJECT, revision, stored);
  const recorded = {
    run,
    workflow: 'orders',
    workflowUid: uid,
    revision,
    trigger: 'webhook',
    test: false,
    input,
    uid: 'uid-of-record',
    epoch,
    sequence,
    acceptedAt,
    timeoutMs: 3_600_000,
    nodes,
    ...(startedAt !== undefined && { startedAt }),
  };
  expect(await restoreRun(runs, PROJECT, recorded)).toEqual({ outcome: 'restored' });
  runner = startTestRunner(runs, PROJECT, { runner: 'runner-2' });
  await until(run, ({ phase }) => phase === 'Waiting');
  expect(await statusOf({ token, body: '"after"' })).toBe(200);
  const resumed = await until(run, (one) => phaseOf(one, 'second') === 'Waiting');
  expect(resumed.nodes.find(({ id }) => id === 'approve')?.output?.data_content).toBe('after');
});
