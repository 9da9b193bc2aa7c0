/**
 * What recording costs the API server, with operator and recorder together: shares, exact totals, pruning at
 * a pace.
 */
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { LABEL } from '../../../api/group.ts';
import { prunesPerSecond } from '../../../operator/writeBudget/split.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { setWriteBudget } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import { readDemand } from '../../../runs/record/demand.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import { listRuns } from '../../../runs/list.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { accepted, refOf, submissionOf } from '../../support/runStore/runStore.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };
const READY = { type: 'Ready', status: 'True' };

let harness: OperatorHarness;
let namespace: string;
let project: string;
let stop: AbortController;
let recording: Promise<void> | undefined;

beforeAll(async () => {
  harness = await startOperatorHarness();
}, 600_000);
afterAll(() => harness?.stop());
beforeEach(async () => {
  harness.startOperator();
  ({ namespace, uid: project } = await harness.createProject());
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await recording;
});

async function applyWorkflow(spec: object = {}): Promise<string> {
  const nodes = [{ id: 'trigger', manual: {} }];
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'orders' } };
  await harness.apply(namespace, stringify({ ...object, spec: { active: true, nodes, ...spec } }));
  const { metadata } = await harness.waitFor(namespace, 'orders', READY);
  return metadata.uid ?? '';
}

function startRecorder(): void {
  const { conn, client: kube } = harness;
  recording = createRecorder({ conn, kube, project, namespace }).run(stop.signal);
}

/** Otherwise the project would get a share of the budget in the next test. */
async function untilNothingWaits(): Promise<void> {
  await pollUntil(
    'all being dealt with',
    async () => {
      const demand = await readDemand(harness.conn, project);
      return !isUnavailable(demand) && demand.waiting === 0;
    },
    SOON,
  );
}

const totals = async () => (await harness.client.get(workflows, { namespace, name: 'orders' })).status?.runs;

/** Ends runs that are ready, each in another way than the one before. */
async function endAll(count: number): Promise<{ succeeded: number; failed: number }> {
  const phases = { succeeded: 0, failed: 0 };
  for (let done = 0; done < count; ) {
    const claimed = await claimRuns(harness.conn, { project, runner: 'test', max: 50 });
    if (claimed.outcome !== 'claimed') throw new Error('the run store is away');
    await Promise.all(
      claimed.claims.map(async (claim, index) => {
        const phase = index % 5 === 0 ? 'Failed' : 'Succeeded';
        phases[phase === 'Failed' ? 'failed' : 'succeeded'] += 1;
        await advance(harness.conn, refOf(claim), { end: { phase } });
      }),
    );
    done += claimed.claims.length;
  }
  return phases;
}

test('2,000 runs at ten times what can be recorded: the totals are exact, the newest have records, all are listed', async () => {
  const workflowUid = await applyWorkflow({ history: { succeeded: 20, failed: 20 } });
  const submission = submissionOf(project, { workflowUid, trigger: 'execute' });
  const runs: string[] = [];
  // In batches: a call waits for all that were sent before it, and has a deadline.
  while (runs.length < 2_000)
    runs.push(...(await Promise.all(Array.from({ length: 100 }, () => accepted(harness.conn, submission)))));
  const cancelled = runs.slice(0, 100);
  await Promise.all(cancelled.map((run) => cancelRun(harness.conn, project, run)));
  const { succeeded, failed } = await endAll(1_900);
  startRecorder();
  await untilNothingWaits();
  expect(await readCounts(harness.conn, project, workflowUid)).toMatchObject({
    succeeded,
    failed,
    cancelled: 100,
    active: 0,
  });
  expect(succeeded + failed + 100).toBe(2_000);
  const listed = await listRuns(harness.conn, project, workflowUid, { limit: 3_000 });
  if (isUnavailable(listed)) throw new Error('the run store is away');
  expect(new Set(listed.map(({ run }) => run))).toEqual(new Set(runs));
  expect(listed.every(({ isSummary }) => isSummary)).toBe(true);
  const { items } = await harness.client.listAll(workflowRuns, { namespace });
  expect(items.length).toBeLessThan(400);
  expect(items.every(({ status }) => status?.completionTime !== undefined)).toBe(true);
  await pollUntil('the totals in the status', async () => (await totals())?.succeeded === succeeded, SOON);
  expect(await totals()).toMatchObject({ succeeded, failed, cancelled: 100, active: 0 });
});

test.each([
  [
    'an event',
    (workflowUid: string) =>
      accepted(harness.conn, submissionOf(project, { workflowUid, trigger: 'execute' })),
  ],
  [
    'an object',
    () =>
      harness.client.create(workflowRuns, {
        metadata: { namespace, name: 'by-hand' },
        spec: { workflow: 'orders' },
      }),
  ],
])('the first run, started by %s, is shown in the status at once', async (_what, start) => {
  const workflowUid = await applyWorkflow();
  startRecorder();
  await start(workflowUid);
  await endAll(1);
  await expect.poll(async () => (await totals())?.last, { timeout: 20_000, interval: 50 }).toBeDefined();
  await untilNothingWaits();
});

test('who has something to record gets the budget, and a share that is wrong is put right', async () => {
  const workflowUid = await applyWorkflow();
  const rate = async () => {
    const demand = await readDemand(harness.conn, project);
    return isUnavailable(demand) ? undefined : demand.rate;
  };
  await setWriteBudget(harness.conn, project, 1_000);
  await accepted(harness.conn, submissionOf(project, { workflowUid, trigger: 'execute' }));
  await endAll(1);
  await expect.poll(rate, { timeout: 15_000, interval: 50 }).toBe(100);
});

test('of many runs over the history the oldest go, at a pace', async () => {
  const pruned = 150;
  await applyWorkflow({ history: { succeeded: 1, failed: 1 } });
  await harness.stopOperator();
  const make = async (name: string, status: object): Promise<void> => {
    const metadata = {
      namespace,
      name,
      labels: { [LABEL.workflow]: 'orders' },
      annotations: { 'windlass.dev/recorded': 'x' },
    };
    await harness.client.create(workflowRuns, { metadata, spec: { workflow: 'orders' } });
    await harness.client.patch(
      workflowRuns,
      { namespace, name },
      { status },
      { type: 'merge', subresource: 'status' },
    );
  };
  const at = (index: number) => new Date(Date.now() - 600_000 + index * 1_000).toISOString();
  await Promise.all(
    Array.from({ length: pruned + 1 }, (_, index) =>
      make(`run-${index}`, { phase: 'Succeeded', completionTime: at(index) }),
    ),
  );
  const names = async () =>
    (await harness.client.listAll(workflowRuns, { namespace })).items.map(({ metadata }) => metadata.name);
  const begin = performance.now();
  harness.startOperator();
  await pollUntil('the pruning', async () => (await names()).length === 1, SOON);
  const seconds = (performance.now() - begin) / 1_000;
  expect(seconds).toBeGreaterThan((pruned - 1) / prunesPerSecond(200));
  expect(await names()).toEqual([`run-${pruned}`]);
});
