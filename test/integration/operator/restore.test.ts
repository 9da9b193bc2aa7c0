/**
 * A run store that lost its data, with and without an operator beside it: every recorded run that had not
 * ended still ends.
 */
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ANNOTATION, API_VERSION } from '../../../api/group.ts';
import type { WorkflowRun } from '../../../api/kinds.ts';
import { isTerminal } from '../../../api/phase.ts';
import { type NodeStatus } from '../../../api/nodeStatus.ts';
import { type RunStatus } from '../../../api/run.ts';
import { webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { storeId } from '../../../runs/project.ts';
import { readRun } from '../../../runs/read.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { submit } from '../../../runs/submit.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { claimed, refOf, submissionOf } from '../../support/runStore/runStore.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };
const TOLD = 'restoring lost run store data';

let harness: OperatorHarness;
let namespace: string;
let uid: string;
let workflowUid: string;
let revision: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

beforeEach(async () => {
  await applyWorkflow('orders');
  const workflow = await harness.waitFor(namespace, 'orders', { type: 'Routed', status: 'True' });
  workflowUid = workflow.metadata.uid ?? '';
  revision = workflow.status?.revision ?? '';
});

async function applyWorkflow(name: string, spec: object = {}): Promise<void> {
  const mail = { to: 'a@example.com', subject: 's', body: "{{ $('agent').text_content }}" };
  const nodes = [
    { id: 'trigger', webhook: { path: name } },
    { id: 'agent', agent: { credential: 'llm', model: 'm', prompt: "{{ $('trigger').data_content.item }}" } },
    { id: 'mail', skill: { name: 'send_email', credential: 'smtp', parameters: mail } },
    { id: 'reply', response: { status: 201, body: "{{ $('agent').text_content }}" } },
  ];
  const object = { apiVersion: API_VERSION, kind: 'Workflow', metadata: { name } };
  await harness.apply(namespace, stringify({ ...object, spec: { active: true, nodes, ...spec } }));
}

const output = (text: string) => ({ text_content: text, data_content: null });
const succeeded = (id: string, rest: Partial<NodeStatus> = {}): NodeStatus => ({
  id,
  phase: 'Succeeded',
  attempts: 1,
  startTime: '2026-01-01T00:00:00.000Z',
  completionTime: '2026-01-01T00:00:01.000Z',
  output: output(id),
  ...rest,
});

type Given = {
  status?: Partial<RunStatus>;
  spec?: object;
  annotations?: Record<string, string>;
  owned?: boolean;
};

/** A run as an earlier run store recorded it. */
async function recordRun(
  name: string,
  { status, spec, annotations, owned = true }: Given = {},
): Promise<void> {
  const owner = {
    apiVersion: API_VERSION,
    kind: 'Workflow',
    name: 'orders',
    uid: workflowUid,
    controller: true,
  };
  const metadata = {
    name,
    namespace,
    annotations: { ...(owned && { [ANNOTATION.recorded]: 'earlier' }), ...annotations },
    ...(owned && { ownerReferences: [owner] }),
  };
  const input = { text_content: '', data_content: { item: 'desk' } };
  const given = { workflow: 'orders', revision, trigger: { type: 'webhook' }, input, ...spec };
  await harness.client.create(workflowRuns, { metadata, spec: given });
  const begun = {
    phase: 'Running',
    epoch: 5,
    sequence: 7,
    revision,
    nodes: [succeeded('trigger')],
    ...status,
  };
  await harness.client.patch(
    workflowRuns,
    { namespace, name },
    { status: begun },
    { type: 'merge', subresource: 'status' },
  );
}

/** Empties the run store and breaks off all connections to it. */
async function wipe(): Promise<void> {
  await harness.redisCommand('flushall');
  await harness.redis.restart();
  await harness.conn.ready();
}

async function wipeWhileStopped(): Promise<void> {
  await harness.stopOperator();
  await wipe();
  harness.startOperator();
}

const opened = () =>
  pollUntil('the project open', async () => typeof (await storeId(harness.conn, uid)) === 'string', SOON);

const inStore = async (run: string): Promise<RunState | undefined> => {
  const state = await readRun(harness.conn, uid, run);
  return state && !('outcome' in state) ? state : undefined;
};

const recorded = async (name: string): Promise<WorkflowRun> =>
  harness.client.get(workflowRuns, { namespace, name });

/** What runners do with all that is ready: each run succeeds at once, and is recorded. */
async function executeAll(): Promise<string[]> {
  const runs: string[] = [];
  for (;;) {
    const claims = await claimed(harness.conn, uid, 100);
    if (claims.length === 0) return runs;
    for (const claim of claims) {
      runs.push(claim.state.run);
      await advance(harness.conn, refOf(claim), { end: { phase: 'Succeeded' } });
    }
  }
}

test('three hundred recorded runs all end after the store was wiped while no operator ran, and few calls are made', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `run-${index}`);
  for (let at = 0; at < names.length; at += 30)
    await Promise.all(names.slice(at, at + 30).map((name) => recordRun(name)));
  await wipeWhileStopped();
  await opened();
  const reads = (await harness.metrics()).match(
    /verb="(get|list)",resource="workflowruns",code="200"\} \d+/g,
  );
  const count = (reads ?? []).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  expect(count).toBeLessThan(30);
  expect((await executeAll()).toSorted()).toEqual(names.toSorted());
  const stop = new AbortController();
  const { conn, client: kube, log } = harness;
  const recording = createRecorder({ conn, kube, project: uid, namespace, log }).run(stop.signal);
  const open = async () => {
    const { items } = await harness.client.listAll(workflowRuns, { namespace });
    return items.filter(({ status }) => !isTerminal(status?.phase)).map(({ metadata }) => metadata.name);
  };
  await expect.poll(open, { timeout: 60_000, interval: 500 }).toEqual([]);
  stop.abort();
  await recording;
}, 120_000);

test('a wait ends at its time after its runner, the operator and the data of the run store were lost one after the other', async () => {
  const nodes = [
    { id: 'trigger', webhook: { path: 'pausing' } },
    { id: 'pause', wait: { duration: '15s' } },
    { id: 'reply', response: { body: "{{ $('trigger').data_content.item }}" } },
  ];
  await applyWorkflow('pausing', { nodes });
  const workflow = await harness.waitFor(namespace, 'pausing', { type: 'Routed', status: 'True' });
  const { conn, client: kube, log, redis } = harness;
  const run = 'pausing-1';
  const sent = await submit(conn, {
    ...submissionOf(uid, { workflow: 'pausing', workflowUid: workflow.metadata.uid ?? '', run }),
    revision: workflow.status?.revision ?? '',
  });
  expect(sent).toMatchObject({ outcome: 'accepted' });
  const first = startTestRunner(conn, uid, { runner: 'first' });
  const stop = new AbortController();
  const recording = createRecorder({ conn, kube, project: uid, namespace, log }).run(stop.signal);
  const object = () => harness.client.find(workflowRuns, { namespace, name: run });
  const waiting = await pollUntil(
    'the record of the wait',
    async () => {
      const node = (await object())?.status?.nodes?.find(({ id }) => id === 'pause');
      return node?.waitingFor?.until;
    },
    SOON,
  );
  await first.stop(0);
  await harness.stopOperator();
  await redis.replace();
  await conn.ready();
  harness.startOperator();
  const isBack = async () => (await inStore(run))?.phase === 'Waiting';
  await pollUntil('the run to wait again', isBack, SOON);
  const second = startTestRunner(conn, uid, { runner: 'second' });
  const ended = await pollUntil(
    'the recorded end',
    async () => {
      const { status } = await recorded(run);
      return isTerminal(status?.phase) && status;
    },
    SOON,
  );
  expect(ended).toMatchObject({ phase: 'Succeeded' });
  const at = Date.parse(ended.completionTime ?? '') - Date.parse(waiting);
  expect(at).toBeGreaterThan(-100);
  // Two seconds, or what the restart of three programs took beyond the end of the wait.
  expect(at).toBeLessThan(10_000);
  expect(ended.nodes?.find(({ id }) => id === 'reply')).toMatchObject({ phase: 'Succeeded', attempts: 1 });
  stop.abort();
  await Promise.all([recording, second.stop(0)]);
}, 120_000);

test('a run goes on after its last recorded step; what must not be repeated is marked, and the reply is as it was', async () => {
  const nodes = [
    succeeded('trigger'),
    succeeded('agent', { output: output('two desks') }),
    { id: 'mail', phase: 'Running', attempts: 1 } satisfies NodeStatus,
    succeeded('reply', { completionTime: '2026-01-01T00:00:02.000Z' }),
  ];
  await recordRun('begun', { status: { nodes, startTime: '2026-01-01T00:00:00.000Z' } });
  await wipe();
  await opened();
  const state = await inStore('begun');
  expect(state).toMatchObject({ phase: 'Pending', trigger: 'webhook', revision });
  expect(state?.nodes.find(({ id }) => id === 'mail')).toMatchObject({
    phase: 'Running',
    mark: { attempt: 1, atMostOnce: true },
  });
  expect(state?.nodes.find(({ id }) => id === 'agent')?.output).toEqual(output('two desks'));
  expect(state?.reply).toMatchObject({ status: 201, body: 'two desks' });
  const [claim] = await claimed(harness.conn, uid);
  expect(claim).toMatchObject({ remainingMs: 0, state: { run: 'begun' } });
  expect(harness.log.entries.map(({ message }) => message)).toContain(TOLD);
});

test('what cannot go on ends, and no node of it stays open', async () => {
  // An operator would end the cancelled one between the two writes that record it.
  await harness.stopOperator();
  const running = { id: 'mail', phase: 'Running', attempts: 1 } satisfies NodeStatus;
  const cut = succeeded('agent', { truncated: true });
  await recordRun('needs-cut', { status: { nodes: [succeeded('trigger'), cut] } });
  await recordRun('needs-cut-input', { spec: { inputTruncated: true, input: { text_content: '' } } });
  await recordRun('had-all', {
    status: { nodes: [succeeded('trigger'), cut, succeeded('mail'), succeeded('reply')] },
  });
  await recordRun('cancelled', {
    status: { nodes: [succeeded('trigger'), running] },
    spec: { cancel: true },
  });
  await recordRun('no-revision', { spec: { revision: 'orders-0' }, status: { revision: 'orders-0' } });
  await recordRun('ended', { status: { phase: 'Succeeded', completionTime: '2026-01-01T00:00:01.000Z' } });
  await wipe();
  harness.startOperator();
  await opened();
  const ends = async (name: string) => (await recorded(name)).status;
  expect(await ends('needs-cut')).toMatchObject({
    phase: 'Failed',
    reason: 'DataLost',
    message: expect.stringContaining("$('agent').text_content"),
  });
  expect(await ends('needs-cut-input')).toMatchObject({ phase: 'Failed', reason: 'DataLost' });
  const cancelled = await ends('cancelled');
  expect(cancelled).toMatchObject({ phase: 'Cancelled', epoch: 5, sequence: 7 });
  expect(cancelled?.nodes?.map(({ phase }) => phase)).toEqual(['Succeeded', 'Unknown']);
  expect(await ends('no-revision')).toMatchObject({ phase: 'Failed', reason: 'RevisionMissing' });
  expect((await claimed(harness.conn, uid)).map(({ state }) => state.run)).toEqual(['had-all']);
});

test('a child that was restored is cancelled when the operator ends its parent', async () => {
  await harness.stopOperator();
  const ancestors = { group: workflowUid, root: 'parent', path: ['orders'], waits: true };
  await recordRun('a-child', {
    spec: { parent: { run: 'parent', node: 'call' } },
    annotations: { [ANNOTATION.ancestors]: JSON.stringify(ancestors) },
  });
  await recordRun('other', {});
  // Its input is lost, so that it cannot continue.
  await recordRun('parent', { spec: { inputTruncated: true, input: { text_content: '' } } });
  await wipe();
  harness.startOperator();
  const phase = async (name: string) => (await recorded(name)).status?.phase;
  await pollUntil('the parent has ended', async () => (await phase('parent')) === 'Failed', SOON);
  const isCancelled = async () => {
    const state = await inStore('a-child');
    return (state?.phase ?? (await phase('a-child'))) === 'Cancelled';
  };
  await pollUntil('the child is cancelled', isCancelled, SOON);
  expect((await inStore('other'))?.phase).toBe('Pending');
});

test('of runs that people made, those of a workflow that is gone are cancelled and the others go on', async () => {
  await recordRun('own', { owned: false });
  await applyWorkflow('other');
  const other = await harness.waitFor(namespace, 'other', { type: 'Routed', status: 'True' });
  await recordRun('orphan', {
    owned: false,
    spec: { workflow: 'other', revision: other.status?.revision ?? '' },
    status: { revision: other.status?.revision ?? '' },
  });
  await harness.stopOperator();
  await harness.client.delete(workflows, { namespace, name: 'other' });
  await wipe();
  harness.startOperator();
  await opened();
  const phase = async () => (await recorded('orphan')).status?.phase;
  await expect.poll(phase, { timeout: 15_000, interval: 50 }).toBe('Cancelled');
  expect(await inStore('own')).toMatchObject({ phase: 'Pending', trigger: 'webhook' });
  expect(await inStore('orphan')).toBeUndefined();
});

test('a repeated event of a recorded run is that run also after the store was wiped', async () => {
  const event = submissionOf(uid, { workflowUid, dedupeKey: 'delivery-1', bodyHash: 'body-1' });
  const first = await submit(harness.conn, event);
  expect(first).toMatchObject({ outcome: 'accepted' });
  const dedupeHash = (await inStore('run' in first ? first.run : ''))?.dedupeHash;
  const mark = { [ANNOTATION.dedupe]: `${dedupeHash} body-1` };
  await recordRun('kept', { annotations: mark, status: { phase: 'Failed' } });
  await wipe();
  await opened();
  expect(await submit(harness.conn, event)).toMatchObject({
    outcome: 'accepted',
    run: 'kept',
    duplicate: true,
  });
  expect(await submit(harness.conn, { ...event, bodyHash: 'body-2' })).toEqual({
    outcome: 'conflict',
    run: 'kept',
  });
});

test('runs of a workflow without a route are put back, too', async () => {
  await recordRun('begun');
  await harness.stopOperator();
  await applyWorkflow('orders', {
    nodes: [{ id: 'trigger', schedule: { cron: '0 0 * * *', timeZone: 'UTC' } }],
  });
  await harness.client.delete(webhookRoutes, { namespace, name: 'orders' });
  await wipe();
  harness.startOperator();
  await opened();
  expect(await inStore('begun')).toMatchObject({ phase: 'Pending' });
});

test('a namespace that is new has lost nothing', async () => {
  const told = harness.log.entries.filter(({ message, fields }) => {
    const { namespace: name } = fields as { namespace?: string };
    return message === TOLD && name === namespace;
  });
  expect(told).toEqual([]);
});
