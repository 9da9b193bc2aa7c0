/** Runs that a caller of the gateway repeats or resumes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { revisionOf } from '../../../api/revision.ts';
import { roleBindings, roles, serviceAccounts } from '../../../kube/resource.ts';
import { advance } from '../../../runs/advance.ts';
import { putRevision } from '../../../runs/revisions.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunEnd } from '../../../runs/types/result.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { tokenOf } from '../../support/cluster/users.ts';
import {
  NAMESPACE,
  PROJECT,
  putRoute,
  startGatewayHarness,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { accepted, claimed, refOf, stateOf, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const workflow = 'orders';
const REVISION = 'orders-with-a-step';
let harness: GatewayHarness;
let executor: string;
let stranger: string;
/** May execute the workflow, and use the credential `paid`. */
let tester: string;

beforeAll(async () => {
  harness = await startGatewayHarness();
  const execute = { apiGroups: [GROUP], resources: ['workflows/execute'], verbs: ['create'] };
  const use = { apiGroups: [GROUP], resources: ['credentials'], verbs: ['use'], resourceNames: ['paid'] };
  [executor, stranger, tester] = await Promise.all([
    makeUser('executor', [execute]),
    makeUser('stranger', []),
    makeUser('tester', [execute, use]),
  ]);
  await putRoute(harness.client, workflow);
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'set', parameters: { values: '1' } } },
  ];
  await putRevision(harness.runs, PROJECT, REVISION, revisionOf({ active: true, nodes }));
  await pollUntil('the route', async () => (await fetch(harness.hook(workflow))).status === 405, {
    timeoutMs: 20_000,
  });
});
afterAll(() => harness?.close());

async function makeUser(
  name: string,
  rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[],
) {
  const metadata = { namespace: NAMESPACE, name };
  await harness.client.create(serviceAccounts, { metadata });
  await harness.client.create(roles, { metadata, rules });
  await harness.client.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
  });
  return tokenOf(harness.client, NAMESPACE, name);
}

const FAILED: RunEnd = { phase: 'Failed', reason: 'NodeFailed', message: 'node a: no' };

async function ended(nodes: NodeState[], end = FAILED, extra: Partial<Submission> = {}): Promise<string> {
  const submission = { workflow, workflowUid: workflowUid(workflow), revision: REVISION, ...extra };
  const run = await accepted(harness.runs, submissionOf(PROJECT, submission));
  const claim = (await claimed(harness.runs, PROJECT)).find(({ state }) => state.run === run);
  if (!claim) throw new Error('not claimed');
  await advance(harness.runs, refOf(claim), { checkpoints: nodes, end });
  return run;
}

const retry = (run: string, body?: unknown, token = executor, key?: string) =>
  fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.${workflow}/runs/${run}/retry`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function started(answer: Response) {
  expect(answer.status).toBe(202);
  const { run } = (await answer.json()) as { run: string };
  expect(answer.headers.get('location')).toBe(`/workflows/${NAMESPACE}.${workflow}/runs/${run}`);
  return stateOf(harness.runs, PROJECT, run);
}

const failedNode: NodeState = { id: 'a', phase: 'Failed', attempts: 1 };
const unknownNode: NodeState = { id: 'a', phase: 'Unknown', attempts: 1, reason: 'EffectUnknown' };

test('a run is repeated with its input, from the start', async () => {
  const run = await ended([failedNode]);
  const state = await started(await retry(run));
  expect(state).toMatchObject({ retryOf: run, input: submissionOf(PROJECT).input, nodes: [] });
  expect(state.requestedBy).toContain('executor');
  // The line may come after the answer.
  const line = await pollUntil(
    'the audit line',
    () => auditTrail(harness.gateway.log).find((each) => each['run'] === state.run),
    { timeoutMs: 10_000, everyMs: 20 },
  );
  expect(line).toMatchObject({ event: 'run.retry', result: 'allowed', retryOf: run });
});

test('a test run is repeated with its mocks, so that no effect becomes real', async () => {
  const testing = { mocks: [{ node: 'a', output: {} }] };
  const run = await ended([failedNode], FAILED, { test: true, testing });
  expect(await started(await retry(run))).toMatchObject({ retryOf: run, test: true, testing });
});

test('a test of a model with a credential is repeated by those who may use that credential', async () => {
  const testing = { model: { model: 'large', credential: 'paid' } };
  const run = await ended([failedNode], FAILED, { test: true, testing });
  const refused = await retry(run);
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining('Missing: verb use on credentials.windlass.dev') as string,
  ]);
  expect(await started(await retry(run, undefined, tester))).toMatchObject({ test: true, testing });
});

test('a body may be left out, also by a client that announces a length only at its end', async () => {
  const run = await ended([failedNode]);
  const chunked = (text: string) =>
    fetch(`${harness.gateway.internalURL}/workflows/${NAMESPACE}.${workflow}/runs/${run}/retry`, {
      method: 'POST',
      headers: { authorization: `Bearer ${executor}` },
      body: new Blob([text]).stream(),
      duplex: 'half',
    });
  expect(await started(await chunked(''))).toMatchObject({ retryOf: run });
  const undeclared = await chunked('{"resume":true}');
  expect(undeclared.status).toBe(415);
  expect(await undeclared.text()).toContain('problem/unsupported-media-type');
});

test('a failed run is resumed with its revision; an Unknown node needs a decision', async () => {
  const failed = await ended([failedNode]);
  expect(await started(await retry(failed, { resume: true }))).toMatchObject({
    origin: failed,
    revision: REVISION,
    nodes: [{ id: 'a', phase: 'Pending', attempts: 1 }],
  });
  const run = await ended([unknownNode]);
  const refused = await retry(run, { resume: true });
  expect(refused.status).toBe(409);
  const problem = await refused.text();
  expect(problem).toContain('problem/decision-missing');
  expect(problem).toMatch(/node a.*AssumeDone.*AssumeNotDone/);
  const decisions = [{ node: 'a', outcome: 'AssumeDone', output: { data_content: 7 } }];
  expect((await started(await retry(run, { resume: true, decisions }))).nodes).toMatchObject([
    { id: 'a', phase: 'Succeeded', output: { data_content: 7 } },
  ]);
});

test('retries with one Idempotency-Key start one run, and the key is for that retry alone', async () => {
  const run = await ended([failedNode]);
  const answers = await Promise.all(
    [1, 2].map(async () => started(await retry(run, { resume: true }, executor, 'click-1'))),
  );
  expect(answers[1]?.run).toBe(answers[0]?.run);
  expect(answers[0]).toMatchObject({ origin: run });
  // The gateway may log either of the two first.
  const logged = auditTrail(harness.gateway.log, 'run.retry').slice(-2);
  expect(logged.filter(({ reason }) => reason === 'duplicate')).toMatchObject([
    { result: 'allowed', run: answers[0]?.run },
  ]);
  const other = await retry(run, {}, executor, 'click-1');
  expect([other.status, await other.text()]).toEqual([
    422,
    expect.stringContaining('problem/key-reused') as string,
  ]);
  expect((await retry(run, { resume: true }, tester, 'click-1')).status).toBe(422);
  expect((await started(await retry(run, { resume: true }, executor, 'click-2'))).run).not.toBe(
    answers[0]?.run,
  );
  const next = await started(await retry(await ended([failedNode]), { resume: true }, executor, 'click-1'));
  expect(next.run).not.toBe(answers[0]?.run);
  expect((await retry(run, {}, executor, 'k'.repeat(1_025))).status).toBe(400);
});

test.each([
  [
    'a run that succeeded',
    (): Promise<string> => ended([], { phase: 'Succeeded' }),
    { resume: true },
    409,
    'not-resumable',
  ],
  ['a run that nobody knows', async (): Promise<string> => 'nobody', { resume: true }, 409, 'run-not-kept'],
  [
    'decisions without resume',
    (): Promise<string> => ended([unknownNode]),
    { decisions: [] },
    422,
    'bad-retry',
  ],
  [
    'an unknown outcome',
    (): Promise<string> => ended([unknownNode]),
    { resume: true, decisions: [{ node: 'a', outcome: 'Maybe' }] },
    422,
    'bad-retry',
  ],
] as const)('%s is refused', async (_name, make, body, status, code) => {
  const answer = await retry(await make(), body);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(`problem/${code}`);
});

test('only callers who may start runs of the workflow may retry', async () => {
  const answer = await retry(await ended([failedNode]), { resume: true }, stranger);
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain('verb create on workflows.windlass.dev/execute');
});
