/** The runs of a workflow as a caller of the gateway sees them: in a list, alone, and cancelled. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { GROUP, LABEL } from '../../../api/group.ts';
import type { WorkflowRun } from '../../../api/kinds.ts';
import type { TerminalPhase } from '../../../api/phase.ts';
import { namespacedResource, roleBindings, roles, serviceAccounts } from '../../../kube/resource.ts';
import { advance } from '../../../runs/advance.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { accepted, claimed, refOf, stateOf, submissionOf } from '../../support/runStore/runStore.ts';
import { tokenOf } from '../../support/cluster/users.ts';

const workflowRuns = namespacedResource<WorkflowRun>(GROUP, 'v1alpha1', 'WorkflowRun', 'workflowruns');
type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
type Item = { run: string; phase: string; test?: boolean; summary?: boolean };
type List = { items: Item[]; continue?: string };

let harness: GatewayHarness;
let reader: string;
let canceller: string;
let stranger: string;
let workflow: string;
let workflows = 0;

beforeAll(async () => {
  harness = await startGatewayHarness();
  const right = (verbs: string[]): Rule => ({ apiGroups: [GROUP], resources: ['workflowruns'], verbs });
  [reader, canceller, stranger] = await Promise.all([
    makeUser('reader', [right(['get', 'list'])]),
    makeUser('canceller', [right(['delete'])]),
    makeUser('stranger', []),
  ]);
});
afterAll(() => harness?.close());

beforeEach(async () => {
  workflow = `orders-${(workflows += 1)}`;
  await putRoute(harness.client, workflow);
  await pollUntil('the route', async () => (await fetch(harness.hook(workflow))).status === 405, {
    timeoutMs: 20_000,
  });
});

/** So that the next test claims its own runs. */
afterEach(async () => {
  const left = await unfinishedRuns(harness.runs, PROJECT, workflowUid(workflow));
  if (isUnavailable(left)) throw new Error('the run store does not answer');
  for (let from = 0; from < left.length; from += PORTION)
    await Promise.all(left.slice(from, from + PORTION).map((run) => cancelRun(harness.runs, PROJECT, run)));
});

/** As many calls at once as are answered in time also where the machine is slow. */
const PORTION = 100;

async function makeUser(name: string, rules: Rule[]): Promise<string> {
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

const address = (path: string) =>
  `${harness.gateway.internalURL}/workflows/${NAMESPACE}.${workflow}/runs${path}`;
const call = (method: string, path: string, token = reader) =>
  fetch(address(path), { method, headers: { authorization: `Bearer ${token}` } });
const cancel = (run: string, token = canceller) => call('DELETE', `/${run}`, token);

async function list(query = ''): Promise<List> {
  const answer = await call('GET', query);
  expect(answer.status).toBe(200);
  return (await answer.json()) as List;
}

/** All pages, with something happening after each. */
async function pages(query: string, between: () => Promise<void> = async () => {}): Promise<Item[]> {
  const items: Item[] = [];
  let page = await list(`?${query}`);
  items.push(...page.items);
  while (page.continue !== undefined) {
    await between();
    page = await list(`?${query}&continue=${page.continue}`);
    items.push(...page.items);
  }
  return items;
}

function submitted(): Promise<string> {
  return accepted(harness.runs, submissionOf(PROJECT, { workflow, workflowUid: workflowUid(workflow) }));
}

async function ended(phase: TerminalPhase): Promise<string> {
  const run = await submitted();
  const [claim] = await claimed(harness.runs, PROJECT, 1);
  if (!claim) throw new Error('nothing was ready');
  await advance(harness.runs, refOf(claim), { end: { phase, message: 'So it was.' } });
  return run;
}

/** Lets an ended run go from the store, as its recording does. */
async function release(run: string): Promise<void> {
  expect(await recorded(harness.runs, await stateOf(harness.runs, PROJECT, run), 'written')).toBe('recorded');
}

async function writeRecord(run: string, status: WorkflowRun['status']): Promise<void> {
  const ref = { namespace: NAMESPACE, name: run };
  const labels = { [LABEL.workflow]: workflow };
  await harness.client.create(workflowRuns, { metadata: { ...ref, labels }, spec: { workflow } });
  await harness.client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
}

test('unfinished runs, records and summaries form one list, newest first, each once, while runs move between them', async () => {
  const old = ['old-1', 'old-2'];
  for (const [index, run] of old.entries())
    await writeRecord(run, {
      phase: 'Failed',
      acceptedTime: `2026-01-0${index + 1}T00:00:00.000Z`,
      startTime: '2026-01-02T12:00:00.000Z',
      completionTime: '2026-01-03T00:00:00.000Z',
      trigger: 'webhook',
      reason: 'Timeout',
    });
  const runs: string[] = [];
  for (let count = 0; count < 12; count += 1)
    runs.push(await ended(count % 4 === 0 ? 'Failed' : 'Succeeded'));
  for (const run of runs.slice(0, 6)) await release(run);
  await writeRecord(runs[1] ?? '', { phase: 'Succeeded' });
  for (let count = 0; count < 3; count += 1) runs.push(await submitted());

  const waiting = runs.slice(6, 12).values();
  const items = await pages('limit=3', async () => {
    const { value } = waiting.next();
    if (value !== undefined) await release(value);
  });
  expect(items.map(({ run }) => run)).toEqual([...runs.toReversed(), ...old.toReversed()]);
  for (const run of waiting) await release(run);
  const summaries = (await pages('')).filter(({ summary }) => summary).map(({ run }) => run);
  expect(summaries.toSorted()).toEqual(
    runs
      .slice(0, 12)
      .filter((_, index) => index !== 1)
      .toSorted(),
  );
  expect(items[0]).toMatchObject({ phase: 'Pending', trigger: 'webhook', test: false });
  expect(items.at(-1)).toEqual({
    run: 'old-1',
    workflow: `${NAMESPACE}.${workflow}`,
    phase: 'Failed',
    trigger: 'webhook',
    test: false,
    acceptedTime: '2026-01-01T00:00:00.000Z',
    startTime: '2026-01-02T12:00:00.000Z',
    completionTime: '2026-01-03T00:00:00.000Z',
    reason: 'Timeout',
  });
  const failed = await pages('phase=Failed&limit=2');
  expect(failed.map(({ run }) => run)).toEqual([runs[8], runs[4], runs[0], 'old-2', 'old-1']);
});

test('with a rare phase 2,000 runs are read for a page, which may be empty and not the last', async () => {
  const failed = await ended('Failed');
  for (let count = 0; count < 2_000; count += PORTION)
    await Promise.all(Array.from({ length: PORTION }, submitted));
  const first = await list('?phase=Failed&limit=1');
  expect(first.items).toEqual([]);
  const { items } = await list(`?phase=Failed&limit=1&continue=${first.continue}`);
  expect(items.map(({ run }) => run)).toEqual([failed]);
});

test('a run created as an object is listed first until it is accepted, and once', async () => {
  const before = await submitted();
  const { metadata } = await harness.client.create(workflowRuns, {
    metadata: { namespace: NAMESPACE, name: `by-hand-${workflow}` },
    spec: { workflow },
  });
  expect((await pages('limit=1')).map(({ run }) => run)).toEqual([metadata.name, before]);
  await accepted(
    harness.runs,
    submissionOf(PROJECT, {
      workflow,
      workflowUid: workflowUid(workflow),
      run: metadata.name,
      recordUid: metadata.uid ?? '',
    }),
  );
  const after = await submitted();
  expect((await pages('limit=1')).map(({ run }) => run)).toEqual([after, metadata.name, before]);
});

test('a run that was refused is listed as what it is, live or test', async () => {
  for (const [name, test] of [
    ['refused-live', false],
    ['refused-test', true],
  ] as const) {
    const ref = { namespace: NAMESPACE, name };
    await harness.client.create(workflowRuns, { metadata: ref, spec: { workflow, test } });
    const status = { phase: 'Failed', reason: 'DraftInvalid', completionTime: '2026-01-01T00:00:00Z' };
    await harness.client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
  }
  const { items } = await list();
  const testOf = (name: string) => items.find(({ run }) => run === name)?.test;
  expect([testOf('refused-live'), testOf('refused-test')]).toEqual([false, true]);
});

test('a summary can be read and is marked; a pruned and trimmed run is unknown', async () => {
  const run = await ended('Failed');
  await release(run);
  await harness.runs.command('unlink', `wl:{${PROJECT}}:run:${run}`);
  const answer = await call('GET', `/${run}`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    run,
    phase: 'Failed',
    message: 'So it was.',
    summary: true,
    nodes: [],
  });
  await dropWorkflow(harness.runs, PROJECT, workflowUid(workflow));
  expect((await call('GET', `/${run}`)).status).toBe(404);
});

test.each(['limit=0', 'limit=501', 'phase=Done', 'continue=nonsense', 'continue=MSAxIC4u'])(
  'a list with %s is a 400',
  async (query) => {
    const answer = await call('GET', `?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/bad-query' });
  },
);

test('callers without the right to list or delete runs are refused and learn nothing', async () => {
  const run = await submitted();
  expect((await call('GET', '', stranger)).status).toBe(403);
  expect((await call('GET', '', canceller)).status).toBe(403);
  expect((await call('GET', '', 'nothing')).status).toBe(401);
  expect((await cancel(run, reader)).status).toBe(403);
  expect((await cancel('unknown', reader)).status).toBe(403);
  expect((await stateOf(harness.runs, PROJECT, run)).phase).toBe('Pending');
  const unknown = `${harness.gateway.internalURL}/workflows/${NAMESPACE}.unknown/runs`;
  const answer = await fetch(unknown, { headers: { authorization: `Bearer ${reader}` } });
  expect(answer.status).toBe(404);
});

test('a waiting run is cancelled at once, a claimed one is asked to end, and an ended one stays', async () => {
  const overLimit = await submitted();
  const [claim] = await claimed(harness.runs, PROJECT, 1);
  const asked = await cancel(overLimit);
  expect([asked.status, await asked.json()]).toEqual([202, { run: overLimit }]);
  expect((await stateOf(harness.runs, PROJECT, overLimit)).cancelRequested).toBe(true);
  if (claim) await advance(harness.runs, refOf(claim), { end: { phase: 'Cancelled' } });
  expect((await cancel(overLimit)).status).toBe(204);

  const queued = await submitted();
  expect((await cancel(queued)).status).toBe(204);
  expect(await stateOf(harness.runs, PROJECT, queued)).toMatchObject({
    phase: 'Cancelled',
    reason: 'Cancelled',
  });
  await release(queued);
  expect((await cancel(queued)).status).toBe(204);

  const done = await ended('Succeeded');
  const late = await cancel(done);
  expect(late.status).toBe(409);
  expect(await late.json()).toMatchObject({ type: 'tag:windlass.dev,2026:problem/run-ended' });
  await release(done);
  expect((await cancel(done)).status).toBe(409);
  expect((await cancel('unknown')).status).toBe(404);
});

test('cancelling is audited with its user and result', async () => {
  const trail = () =>
    auditTrail(harness.gateway.log, 'run.cancel').map(({ result, reason, user }) =>
      [result, reason, user?.name.split(':').at(-1)].join(' '),
    );
  const lines = ['allowed  canceller', 'failed run-ended canceller', 'denied forbidden reader'];
  await expect.poll(trail).toEqual(expect.arrayContaining(lines));
});

test('a run that is not yet in the run store cannot be cancelled', async () => {
  await writeRecord(`early-${workflow}`, { phase: 'Pending' });
  const answer = await cancel(`early-${workflow}`);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
});
