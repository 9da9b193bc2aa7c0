/**
 * What the operator does when it reads the counts of a workflow: with a real run store, and no API server.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Workflow, WebhookRoute } from '../../../api/kinds.ts';
import type { Revision } from '../../../api/revision.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { Occurrence } from '../../../kube/events.ts';
import { createProjectStore } from '../../../operator/store/projects.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { createCounts } from '../../../operator/counts/controller.ts';
import { createFailureReports } from '../../../operator/counts/failures.ts';
import { advance } from '../../../runs/advance.ts';
import { keysOf, type ProjectUid } from '../../../store/keys.ts';
import { openProject } from '../../../runs/project.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { createManualClock } from '../../support/time/manualClock.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const UID = 'uid-orders';
const KEY = { namespace: 'shop', name: 'orders' };
const MINUTE_MS = 60_000;
const MISSING = 'restoring missing workflow limits';
const limits: WorkflowLimits = { workflowUid: UID, policy: 'Queue', deadlineMs: MINUTE_MS };
const revision = { name: 'orders-1', revision: { steps: [] } as unknown as Revision };

let store: TestStore;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store.stop());

/** The reconciler, with the workflows that it wakes and the projects whose routes were read. */
function subject(project: ProjectUid) {
  const metadata = { ...KEY, uid: UID };
  const kind = { apiVersion: 'windlass.dev/v1alpha1' as const, metadata };
  const workflow: Workflow = { ...kind, kind: 'Workflow', spec: { active: true, nodes: [] } };
  const names = { workflow: 'orders', workflowUID: UID, projectUID: project, revision: 'orders-1' };
  const spec: WebhookRoute['spec'] = { ...names, trigger: 'manual', active: true };
  const route: WebhookRoute = { ...kind, kind: 'WebhookRoute', spec };
  const [woken, seeded]: string[][] = [[], []];
  const served = async (of: ProjectUid) => {
    seeded?.push(of);
    return [];
  };
  const clock = createManualClock();
  const asleep = new Map<string, boolean>();
  const log = createCollectedLog();
  const projects = createProjectStore(store.conn, { served, keys: () => [], async *unfinished() {} });
  const context = {
    conn: store.conn,
    clock,
    log,
    store: projects,
    scaling: { asleep },
    client: { patch: (async () => workflow) as unknown as KubeClient['patch'] },
    caches: {
      workflows: { resource: workflows, get: () => workflow, noteWrite: () => undefined },
      routes: { get: () => route },
    },
  };
  const told: number[] = [];
  const record = (_object: object, { note }: Occurrence) => told.push(Number.parseInt(note, 10)) > 0;
  const failures = createFailureReports({ record }, clock);
  const counts = createCounts(context, failures);
  counts.limitsMissing.onChange(({ name }) => void woken?.push(name));
  const reconcile = async () => {
    const action = await counts.reconcile(KEY);
    await clock.advance(MINUTE_MS);
    return action;
  };
  return { asleep, projects, told, woken, seeded, reconcile, warnings: () => log.messages('warn') };
}

test('limits that somebody removed are put again, without a change of other workflows', async () => {
  const project = await newProject(store.conn);
  const { projects, woken, seeded, reconcile, warnings } = subject(project);
  const key = keysOf(project).wf(`${UID}.test`);
  await projects.putWorkflow(project, { name: 'orders', revision, limits });
  await reconcile();
  expect([woken, warnings()]).toEqual([[], []]);
  await store.conn.command('hdel', key, 'policy');
  await reconcile();
  expect([woken, warnings()]).toEqual([['orders'], [MISSING]]);
  await projects.putWorkflow(project, { name: 'orders', revision, limits });
  expect(await store.conn.command('hget', key, 'policy')).toBe('Queue');
  expect(await projects.check(project)).toEqual({ outcome: 'done', lost: false });
  expect(seeded).toEqual([]);
});

test('limits that this operator has not put yet are awaited, and their absence is no damage', async () => {
  const project = await newProject(store.conn);
  const { projects, woken, reconcile, warnings } = subject(project);
  await projects.open(project);
  await reconcile();
  expect(woken).toEqual([]);
  await reconcile();
  expect([woken, warnings()]).toEqual([['orders'], []]);
});

test('of a store that lost the whole project no single workflow is told', async () => {
  const project = await newProject(store.conn);
  const { projects, woken, reconcile, warnings } = subject(project);
  await projects.putWorkflow(project, { name: 'orders', revision, limits });
  await store.conn.command('flushall');
  await reconcile();
  await reconcile();
  await openProject(store.conn, project);
  await reconcile();
  expect([woken, warnings()]).toEqual([[], []]);
});

test('after a restart of the operator an Event tells of the runs that have failed since the last one, and of no cancelled run', async () => {
  const project = await newProject(store.conn);
  const endRun = async (phase: 'Failed' | 'Cancelled') => {
    await accepted(store.conn, submissionOf(project, { workflowUid: UID }));
    await advance(store.conn, await claimedOne(store.conn, project), { end: { phase } });
  };
  const { projects, told, reconcile } = subject(project);
  await projects.putWorkflow(project, { name: 'orders', revision, limits });
  for (const phase of ['Failed', 'Cancelled', 'Failed'] as const) await endRun(phase);
  await reconcile();
  expect(told).toEqual([2]);
  for (let count = 0; count < 3; count += 1) await endRun('Cancelled');
  const cancelled = subject(project);
  await cancelled.reconcile();
  expect(cancelled.told).toEqual([]);
  await endRun('Failed');
  const restarted = subject(project);
  await restarted.reconcile();
  expect(restarted.told).toEqual([1]);
});

test('workflows of a project whose runners sleep are counted again after about an hour, others after a minute', async () => {
  const project = await newProject(store.conn);
  const { asleep, projects, reconcile } = subject(project);
  await projects.open(project);
  expect(await reconcile()).toEqual({ kind: 'after', ms: MINUTE_MS });
  asleep.set(KEY.namespace, true);
  const action = await reconcile();
  if (action.kind !== 'after') throw new Error('they are not counted again');
  expect(action.ms).toBeGreaterThanOrEqual(42 * MINUTE_MS);
  expect(action.ms).toBeLessThanOrEqual(78 * MINUTE_MS);
});
