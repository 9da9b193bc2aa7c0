import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import {
  namespacedResource,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
} from '../../../kube/resource.ts';
import { putRevision } from '../../../runs/revisions.ts';
import { advance } from '../../../runs/advance.ts';
import { startNode } from '../../support/runStore/calls.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { RevisionStep } from '../../../api/revision.ts';
import { PLAIN_REVISION } from '../../support/data/plainRevision.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;
let executor: string;
let stranger: string;
let foreigner: string;
let reader: string;

const workflowRuns = namespacedResource(GROUP, 'v1alpha1', 'WorkflowRun', 'workflowruns');

function stepOf(id: string): RevisionStep {
  const retry = { limit: 0, initialMs: 1_000, factor: 2, maxMs: 60_000 };
  return {
    id,
    kind: 'skill',
    skill: { name: 'set', parameters: {} },
    timeoutMs: 60_000,
    retry,
    onError: 'Fail',
  };
}

beforeAll(async () => {
  harness = await startGatewayHarness();
  await harness.client.create(namespaces, { metadata: { name: 'other' } });
  const execute = { apiGroups: [GROUP], resources: ['workflows/execute'], verbs: ['create'] };
  const read = { apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['get'] };
  [executor, stranger, foreigner, reader] = await Promise.all([
    makeUser('executor', NAMESPACE, [execute, read], ['windlass']),
    makeUser('stranger', NAMESPACE, []),
    makeUser('foreigner', 'other', [execute, read]),
    makeUser('reader', NAMESPACE, [read]),
  ]);
  const steps = ['agent_1', 'charge'].map(stepOf);
  await putRevision(harness.runs, PROJECT, 'hello-1', { ...PLAIN_REVISION, steps, sensitive: ['charge'] });
  await putRoute(harness.client, 'orders');
  await putRoute(harness.client, 'hello', { webhook: false });
  await putRoute(harness.client, 'paused', { active: false });
  await pollUntil('the routes', async () => (await fetch(harness.hook('orders'))).status === 405, {
    timeoutMs: 20_000,
  });
});

afterAll(() => harness?.close());

/** A service account with these rights in its namespace, and a token of it. */
async function makeUser(
  name: string,
  namespace: string,
  rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[],
  audiences: string[] = [],
): Promise<string> {
  await harness.client.create(serviceAccounts, { metadata: { namespace, name } });
  await harness.client.create(roles, { metadata: { namespace, name }, rules });
  await harness.client.create(roleBindings, {
    metadata: { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  return tokenOf(name, namespace, audiences);
}

async function tokenOf(name: string, namespace: string, audiences: string[]): Promise<string> {
  const answer = await harness.client.raw(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences } },
    },
  );
  return (answer as { status: { token: string } }).status.token;
}

type Call = { token?: string; body?: string; headers?: Record<string, string>; query?: string };

function execute(workflow: string, { token, body, headers = {}, query = '' }: Call = {}): Promise<Response> {
  return fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.${workflow}/execute${query}`, {
    method: 'POST',
    ...(body !== undefined && { body }),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
}

function get(path: string, token: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(harness.gateway.internalURL + path, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
}

async function accepted(answer: Response): Promise<string> {
  expect(answer.status).toBe(202);
  const { run } = (await answer.json()) as { run: string };
  return run;
}

async function stored(run: string): Promise<RunState> {
  const state = await readRun(harness.runs, PROJECT, run);
  if (state === undefined || isUnavailable(state)) throw new Error(`${run} is not in the run store`);
  return state;
}

/** Plays the runner: takes this run, leaving others be. */
function claim(run: string): Promise<ClaimRef> {
  return pollUntil(
    `${run} to claim`,
    async () => {
      const claimed = await claimRuns(harness.runs, { project: PROJECT, runner: 'test', max: 1 });
      const [next] = claimed.outcome === 'claimed' ? claimed.claims : [];
      return next?.state.run === run && { project: PROJECT, run, token: next.token };
    },
    { timeoutMs: 20_000, everyMs: 5 },
  );
}

test.each([
  ['no token', () => undefined, 401],
  ['a word', () => 'nothing', 401],
  ['a token that nobody signed', () => `${executor.split('.').slice(0, 2).join('.')}.AAAA`, 401],
  ['a token without rights', () => stranger, 403],
  ['a token with rights in another namespace', () => foreigner, 403],
  ['a token that may only read', () => reader, 403],
  ['a token with the right', () => executor, 202],
])('an execute call with %s', async (_what, tokenOfCaller, status) => {
  const token = tokenOfCaller();
  const answer = await execute('orders', { body: '{}', ...(token !== undefined && { token }) });
  expect(answer.status).toBe(status);
  expect(answer.headers.has('www-authenticate')).toBe(status === 401);
});

test('a refused caller learns the missing right and how to check it', async () => {
  const answer = await execute('orders', { token: reader, body: '{}' });
  const { detail } = (await answer.json()) as { detail: string };
  expect(detail).toContain('verb create on workflows.windlass.dev/execute in namespace');
  expect(detail).toContain('kubectl auth can-i create workflows.windlass.dev --subresource=execute');
});

test('a token for some other audience is not accepted', async () => {
  const token = await tokenOf('executor', NAMESPACE, ['somebody-else']);
  expect((await execute('orders', { token, body: '{}' })).status).toBe(401);
});

test('a token for the API server itself is accepted too', async () => {
  const token = await tokenOf('executor', NAMESPACE, []);
  expect((await execute('orders', { token, body: '{}' })).status).toBe(202);
});

test('an unknown workflow is 404 for callers with the right, and 403 for others', async () => {
  expect((await execute('unknown', { token: executor })).status).toBe(404);
  expect((await execute('unknown', { token: stranger })).status).toBe(403);
});

test('an inactive workflow is 409, except for test runs', async () => {
  expect((await execute('paused', { token: executor })).status).toBe(409);
  const run = await accepted(await execute('paused', { token: executor, query: '?test=true' }));
  expect(await stored(run)).toMatchObject({ test: true, trigger: 'execute', workflow: 'paused' });
});

test('the body becomes the output of any trigger unchanged, and Location is the URL of the run', async () => {
  const answer = await execute('hello', { token: executor, body: ' {"name":"Ann", "n":1E-999}' });
  const run = await accepted(answer);
  expect(answer.headers.get('location')).toBe(`/workflows/${NAMESPACE}.hello/runs/${run}`);
  expect((await stored(run)).input).toBe('{"text_content":"","data_content": {"name":"Ann", "n":1E-999}}');
});

test("no body is an empty object, and in a test run the trigger's own test data", async () => {
  const [real, trial, given] = await Promise.all([
    execute('hello', { token: executor }).then(accepted),
    execute('hello', { token: executor, query: '?test=true' }).then(accepted),
    execute('hello', { token: executor, query: '?test=true', body: '{}' }).then(accepted),
  ]);
  expect((await stored(real)).input).toBe('{"text_content":"","data_content":{}}');
  expect((await stored(trial)).input).toBe('');
  expect((await stored(given)).input).toBe('{"text_content":"","data_content":{}}');
});

test('one key is one run, and the key with another body is refused', async () => {
  const headers = { 'idempotency-key': 'execute-1' };
  const first = await accepted(await execute('hello', { token: executor, body: '{"a":1}', headers }));
  expect(await accepted(await execute('hello', { token: executor, body: '{"a":1}', headers }))).toBe(first);
  expect((await execute('hello', { token: executor, body: '{"a":2}', headers })).status).toBe(422);
});

test('the key of another user does not return the run of that user', async () => {
  const rules = [{ apiGroups: ['windlass.dev'], resources: ['workflows/execute'], verbs: ['create'] }];
  const other = await makeUser('other-executor', NAMESPACE, rules);
  const call = { body: '{"a":1}', headers: { 'idempotency-key': 'known-to-both', prefer: 'wait=1' } };
  const run = await accepted(await execute('hello', { ...call, token: executor }));
  const answer = await execute('hello', { ...call, token: other });
  expect(answer.status).toBe(422);
  const problem = await answer.text();
  expect(problem).toContain('problem/key-reused');
  expect(problem).not.toContain(run);
  // Another token of the same user is the same user.
  const again = await tokenOf('executor', NAMESPACE, []);
  expect(await accepted(await execute('hello', { ...call, token: again }))).toBe(run);
});

test("a caller's key never equals that of a scheduled time", async () => {
  const key = 'schedule/2026-03-02T09:00:00Z';
  const call = { token: executor, body: '{}', headers: { 'idempotency-key': key } };
  const run = await accepted(await execute('hello', call));
  const { workflow, workflowUid, revision } = await stored(run);
  const tick = { project: PROJECT, workflow, workflowUid, revision, trigger: 'schedule', dedupeKey: key };
  const submitted = await submit(harness.runs, { ...tick, input: '{}', bodyHash: 'tick', test: false });
  expect(submitted).toMatchObject({ outcome: 'accepted', duplicate: false });
});

test('the key of a test run is refused for a live run', async () => {
  const headers = { 'idempotency-key': 'tried-first' };
  const call = { token: executor, body: '{"a":1}', headers };
  await accepted(await execute('hello', { ...call, query: '?test=true' }));
  const answer = await execute('hello', call);
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/key-reused' });
});

test('a test run stops at the node in until, and its key is refused for a whole run', async () => {
  const headers = { 'idempotency-key': 'as-far-as' };
  const call = { token: executor, body: '{"a":1}', headers };
  const run = await accepted(await execute('hello', { ...call, query: '?test=true&until=agent_1' }));
  expect(await stored(run)).toMatchObject({ test: true, until: 'agent_1' });
  const view = await get(`/workflows/${NAMESPACE}.hello/runs/${run}`, reader);
  const requestedBy = `system:serviceaccount:${NAMESPACE}:executor`;
  expect(await view.json()).toMatchObject({ run, until: 'agent_1', requestedBy });
  expect((await execute('hello', { ...call, query: '?test=true' })).status).toBe(422);
  const earnest = await execute('hello', { token: executor, query: '?until=agent_1' });
  expect(earnest.status).toBe(400);
  expect(await earnest.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/bad-query' });
});

test('each call has one line in the audit trail, without its body', async () => {
  const headers = { 'idempotency-key': 'audited-key' };
  const call = { token: executor, body: '{"secret":"audited-body"}', headers };
  const run = await accepted(await execute('hello', { ...call, query: '?test=true' }));
  const instanceOf = async (answer: Response) => ((await answer.json()) as { instance: string }).instance;
  const reused = await instanceOf(await execute('hello', call));
  const refused = await instanceOf(await execute('hello', { ...call, token: stranger }));
  const linesWith = (field: string, value: string) => () =>
    auditTrail(harness.gateway.log).filter((line) => line[field] === value);
  const named = { kind: 'Workflow', namespace: NAMESPACE, name: 'hello' };
  const object = { ...named, uid: 'uid-of-hello' };
  const userOf = (name: string) => ({
    name: `system:serviceaccount:${NAMESPACE}:${name}`,
    uid: expect.stringMatching(/^.{36}$/) as string,
    groups: expect.arrayContaining([`system:serviceaccounts:${NAMESPACE}`]) as string[],
  });
  const user = userOf('executor');
  const allowed = { event: 'run.test', result: 'allowed', program: 'gateway', address: '127.0.0.1' };
  await expect.poll(linesWith('run', run)).toMatchObject([{ ...allowed, user, object }]);
  const failed = { event: 'run.execute', result: 'failed', reason: 'key-reused' };
  await expect.poll(linesWith('request', reused)).toMatchObject([{ ...failed, user, object }]);
  const denied = { event: 'run.execute', result: 'denied', reason: 'forbidden', user: userOf('stranger') };
  await expect.poll(linesWith('request', refused)).toMatchObject([{ ...denied, object: named }]);
  const said = harness.gateway.log.join('\n');
  for (const secret of ['audited-body', 'audited-key', executor, stranger])
    expect(said).not.toContain(secret);
});

test('a test run accepts the whole output of its trigger', async () => {
  const headers = { 'idempotency-key': 'whole-output' };
  const body = '{"text_content":"Hello","data_content":[1],"more":true}';
  const call = { token: executor, body, headers };
  const run = await accepted(await execute('hello', { ...call, query: '?test=true&as=output' }));
  expect((await stored(run)).input).toBe('{"text_content":"Hello","data_content":[1]}');
  expect((await execute('hello', { ...call, query: '?test=true' })).status).toBe(422);
  expect((await execute('hello', { ...call, query: '?as=output' })).status).toBe(400);
});

test('with Prefer: wait the answer has the outputs, in the order of the graph', async () => {
  const answering = execute('hello', {
    token: executor,
    body: '{"a":1}',
    headers: { prefer: 'wait=10', 'idempotency-key': 'waited' },
  });
  const run = await accepted(
    await execute('hello', { token: executor, body: '{"a":1}', headers: { 'idempotency-key': 'waited' } }),
  );
  const ref = await claim(run);
  const output = { text_content: 'Hello Ann', data_content: { model: 'm' } };
  await advance(harness.runs, ref, {
    checkpoints: [
      { id: 'agent_1', phase: 'Succeeded', attempts: 1, startedAt: 1_000, endedAt: 2_000, output },
      { id: 'charge', phase: 'Succeeded', attempts: 1, startedAt: 500, endedAt: 3_000, output },
    ],
    end: { phase: 'Succeeded' },
  });
  const answer = await answering;
  expect(answer.status).toBe(200);
  expect(answer.headers.get('preference-applied')).toBe('wait=10');
  expect(await answer.json()).toMatchObject({
    run,
    workflow: `${NAMESPACE}.hello`,
    phase: 'Succeeded',
    nodes: [
      { id: 'agent_1', phase: 'Succeeded', startTime: '1970-01-01T00:00:01.000Z', output },
      { id: 'charge', phase: 'Succeeded', redacted: true },
    ],
  });
});

test('with Prefer: wait and a run that takes longer, the answer is 202', async () => {
  const before = performance.now();
  await accepted(await execute('hello', { token: executor, headers: { prefer: 'wait=1' } }));
  expect(performance.now() - before).toBeGreaterThanOrEqual(990);
});

test('a run can be read by callers who may get it, and only under its workflow', async () => {
  const run = await accepted(await execute('hello', { token: executor, body: '{}' }));
  const path = `/workflows/${NAMESPACE}.hello/runs/${run}`;
  const answer = await get(path, reader);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    run,
    workflow: `${NAMESPACE}.hello`,
    phase: 'Pending',
    trigger: 'execute',
    test: false,
    nodes: [],
  });
  expect((await get(path, stranger)).status).toBe(403);
  expect((await fetch(harness.gateway.internalURL + path)).status).toBe(401);
  expect((await get(`/workflows/${NAMESPACE}.orders/runs/${run}`, reader)).status).toBe(404);
  const missing = await get(`/workflows/${NAMESPACE}.hello/runs/no-such-run`, reader);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/run-unknown' });
});

test('a run with only a record is read from the API server', async () => {
  await harness.client.create(workflowRuns, {
    metadata: { namespace: NAMESPACE, name: 'hello-old' },
    spec: { workflow: 'hello', trigger: { type: 'webhook' } },
  });
  const status = {
    phase: 'Failed',
    reason: 'NodeFailed',
    nodes: [{ id: 'agent_1', phase: 'Failed', attempts: 3 }],
  };
  await harness.client.patch(
    workflowRuns,
    { namespace: NAMESPACE, name: 'hello-old' },
    { status },
    { type: 'merge', subresource: 'status' },
  );
  const path = `/workflows/${NAMESPACE}.hello/runs/hello-old`;
  const answer = await get(path, reader);
  expect(await answer.json()).toMatchObject({
    ...status,
    run: 'hello-old',
    workflow: `${NAMESPACE}.hello`,
    trigger: 'webhook',
  });
  // Of its events nothing is left but the last.
  const events = await get(`${path}/events`, reader);
  expect(parseEvents(await events.text())).toEqual([
    { id: 'ended', event: 'run', data: expect.objectContaining({ phase: 'Failed' }) as unknown },
  ]);
  expect((await get(`${path}/events`, reader, { 'last-event-id': 'ended' })).status).toBe(204);
});

type Event = { id: string | undefined; event: string | undefined; data: unknown };

function parseEvents(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      return { id: field('id'), event: field('event'), data: JSON.parse(field('data') ?? 'null') as unknown };
    });
}

test('events are streamed live, and from Last-Event-ID', async () => {
  const run = await accepted(await execute('hello', { token: executor, body: '{}' }));
  const path = `/workflows/${NAMESPACE}.hello/runs/${run}/events`;
  const answer = await get(path, reader);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const ref = await claim(run);
  await startNode(harness.runs, ref, { id: 'agent_1', attempt: 1, atMostOnce: false, at: Date.now() });
  await advance(harness.runs, ref, {
    checkpoints: [{ id: 'agent_1', phase: 'Succeeded', attempts: 1 }],
    end: { phase: 'Succeeded' },
  });
  // The stream ends by itself.
  const events = parseEvents(await answer.text());
  const told = events.map(
    ({ event, data }) =>
      `${event} ${(data as { node?: string }).node ?? ''} ${(data as { phase: string }).phase}`,
  );
  expect(told.slice(-3)).toEqual(['node agent_1 Running', 'node agent_1 Succeeded', 'run  Succeeded']);
  const second = events.at(-2);
  const rest = await get(path, reader, { 'last-event-id': second?.id ?? '' });
  expect(parseEvents(await rest.text())).toEqual(events.slice(-1));
  const nothing = await get(path, reader, { 'last-event-id': events.at(-1)?.id ?? '' });
  expect(nothing.status).toBe(204);
  expect((await get(path, stranger)).status).toBe(403);
});

test('events of a run that is not yet in the run store are streamed once it is there', async () => {
  const name = 'hello-created';
  await harness.client.create(workflowRuns, {
    metadata: { namespace: NAMESPACE, name },
    spec: { workflow: 'hello', trigger: { type: 'manual' } },
  });
  const answer = await get(`/workflows/${NAMESPACE}.hello/runs/${name}/events`, reader);
  expect(answer.status).toBe(200);
  const { workflow, workflowUid, revision } = await stored(
    await accepted(await execute('hello', { token: executor, body: '{}' })),
  );
  const submitted = { project: PROJECT, workflow, workflowUid, revision, trigger: 'manual', run: name };
  await submit(harness.runs, { ...submitted, dedupeKey: name, input: '{}', bodyHash: '', test: false });
  await cancelRun(harness.runs, PROJECT, name);
  const phases = parseEvents(await answer.text()).map(({ data }) => (data as { phase: string }).phase);
  expect(phases.at(-1)).toBe('Cancelled');
});

test('a stream ends when its client disconnects', async () => {
  const run = await accepted(await execute('hello', { token: executor, body: '{}' }));
  const leaving = new AbortController();
  await fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.hello/runs/${run}/events`, {
    headers: { authorization: `Bearer ${reader}` },
    signal: leaving.signal,
  });
  const streams = async () => {
    const text = await (await fetch(harness.gateway.metricsURL)).text();
    return /^windlass_gateway_event_streams (\d+)$/m.exec(text)?.[1];
  };
  expect(await streams()).toBe('1');
  leaving.abort();
  await pollUntil('no stream', async () => (await streams()) === '0', { timeoutMs: 20_000 });
});
