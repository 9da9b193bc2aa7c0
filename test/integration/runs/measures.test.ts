/** What metrics show of the live runs of workflows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { measureWorkflows, type WorkflowMeasures } from '../../../runs/measures.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import {
  accepted,
  claimed,
  newProject,
  refOf,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const UID = 'uid-orders';
const MAILS = { workflow: 'mails', workflowUid: 'uid-mails' };

async function measured(project: string): Promise<Record<string, WorkflowMeasures>> {
  const measures = await measureWorkflows(store.conn, project, [UID, MAILS.workflowUid]);
  if (isUnavailable(measures)) throw new Error('the run store does not answer');
  return Object.fromEntries(measures);
}

test('runs that a runner executes, that wait, and that ended are counted by workflow, and test runs are left out', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await setWorkflowLimits(conn, project, {
    workflowUid: UID,
    policy: 'Queue',
    deadlineMs: 1,
    concurrency: 3,
  });
  for (let count = 0; count < 6; count += 1) await accepted(conn, submissionOf(project));
  const [first, second, third] = (await claimed(conn, project)).map(refOf);
  if (!first || !second || !third) throw new Error('less than three runs were claimed');
  await advance(conn, first, { end: { phase: 'Succeeded' } });
  await advance(conn, second, { end: { phase: 'Failed' } });
  await accepted(conn, submissionOf(project, { test: true }));
  await accepted(conn, submissionOf(project, MAILS));
  expect(await measured(project)).toMatchObject({
    [UID]: { running: 1, waiting: 3, ended: { Succeeded: 1, Failed: 1, Cancelled: 0 } },
    [MAILS.workflowUid]: { running: 0, waiting: 1, ended: { Succeeded: 0, Failed: 0, Cancelled: 0 } },
  });
});

test('the oldest waiting run is the one that was accepted first, whether it is ready or over the limit', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  expect(await measured(project)).toMatchObject({ [UID]: { waiting: 0, oldestWaitingMs: 0 } });
  await setWorkflowLimits(conn, project, {
    workflowUid: UID,
    policy: 'Queue',
    deadlineMs: 1,
    concurrency: 1,
  });
  await accepted(conn, submissionOf(project));
  await claimed(conn, project);
  const beforeOverLimit = performance.now();
  await accepted(conn, submissionOf(project));
  await accepted(conn, submissionOf(project));
  const beforeReady = performance.now();
  await accepted(conn, submissionOf(project, MAILS));
  await expect.poll(() => performance.now() - beforeReady).toBeGreaterThan(20);
  const measures = await measured(project);
  const [overLimit, ready] = [UID, MAILS.workflowUid].map((uid) => measures[uid]?.oldestWaitingMs ?? 0);
  expect(overLimit).toBeGreaterThan(ready ?? Infinity);
  expect(overLimit).toBeLessThan(performance.now() - beforeOverLimit + 1);
  expect(ready).toBeGreaterThan(15);
});

test('runs that only wait for a retry are waiting, but are not overdue', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  for (const claim of await claimed(conn, project)) await advance(conn, refOf(claim), { parkMs: 60_000 });
  expect(await measured(project)).toMatchObject({ [UID]: { running: 0, waiting: 1, oldestWaitingMs: 0 } });
});

test.each(['-5', 'abc', '1.5', '1e400', '9007199254740993'])(
  'a total of %s, which a project wrote into its own keys, counts as 0, and an unreadable time of acceptance is left out',
  async (text) => {
    const { conn } = store;
    const project = await newProject(conn);
    const { wf, ready, overLimit } = keysOf(project);
    await accepted(conn, submissionOf(project));
    await conn.command('hset', wf(UID), 'Succeeded', text, 'Failed', text, 'Cancelled', text);
    await conn.command('zadd', ready, 0, `${UID} abc x`, 0, `${UID} -1e400 y`);
    await conn.command('zadd', overLimit, 0, `${UID} abc x`);
    const { [UID]: measures } = await measured(project);
    expect(measures).toMatchObject({ waiting: 1, ended: { Succeeded: 0, Failed: 0, Cancelled: 0 } });
    expect(measures?.oldestWaitingMs).toBeLessThan(60_000);
  },
);
