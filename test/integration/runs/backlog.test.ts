/** The backlog of a project, as the operator reads it with its own account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { readBacklog } from '../../../runs/backlog.ts';
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
const backlogOf = (project: string) => readBacklog(store.conn, project, [UID, MAILS.workflowUid]);

test('ready, claimed and ended runs of all workflows are counted, test runs too, and none over a limit', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  expect(await backlogOf(project)).toEqual({ ready: 0, claimed: 0, oldestMs: 0, ended: 0 });
  const limits = { workflowUid: UID, policy: 'Queue' as const, deadlineMs: 60_000, concurrency: 3 };
  await setWorkflowLimits(conn, project, limits);
  for (let count = 0; count < 4; count += 1) await accepted(conn, submissionOf(project));
  const [first, second] = (await claimed(conn, project)).map(refOf);
  if (!first || !second) throw new Error('less than two runs were claimed');
  await accepted(conn, submissionOf(project, { test: true }));
  await accepted(conn, submissionOf(project, MAILS));
  expect(await backlogOf(project)).toMatchObject({ ready: 2, claimed: 3, ended: 0 });
  // Its slot goes to the run over the limit.
  await advance(conn, first, { end: { phase: 'Failed' } });
  expect(await backlogOf(project)).toMatchObject({ ready: 3, claimed: 2, ended: 1 });
});

test('the age of the backlog is that of its oldest run', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await accepted(conn, submissionOf(project));
  const old = await backlogOf(project);
  await accepted(conn, submissionOf(project, MAILS));
  const older = await backlogOf(project);
  const ageOf = (backlog: typeof old) => ('oldestMs' in backlog ? backlog.oldestMs : NaN);
  expect(ageOf(old)).toBeGreaterThan(0);
  expect(ageOf(older)).toBeGreaterThanOrEqual(ageOf(old));
});

test('a project that cannot be read has no numbers', async () => {
  const { conn } = store;
  const project = await newProject(conn);
  await conn.command('set', `wl:{${project}}:q`, 'damaged');
  expect(await backlogOf(project)).toMatchObject({ outcome: 'unavailable', why: 'damaged' });
});
