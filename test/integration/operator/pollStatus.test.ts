/**
 * What the status of a workflow shows of its polled trigger, and how often: with a real run store, and no API
 * server.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WebhookRoute, Workflow } from '../../../api/kinds.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { createMetrics } from '../../../operator/metrics.ts';
import { reconcilePoll } from '../../../operator/poll/controller.ts';
import { createPolls } from '../../../operator/poll/polls.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { claimPoll } from '../../../store/polling/claim.ts';
import { putTrigger, type PollRef } from '../../../store/polling/triggers.ts';
import { failPoll, movePoll } from '../../../store/polling/outcome.ts';
import { createManualClock } from '../../support/time/manualClock.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

const UID = 'uid-orders';
const KEY = { namespace: 'shop', name: 'orders' };
const MINUTE_MS = 60_000;

let store: TestStore;
let project: string;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store.stop());
beforeEach(async () => {
  project = await newProject(store.conn);
  const names = { workflow: 'orders', workflowUid: UID, revision: 'orders-1', place: 'inbox' };
  // Due again at once.
  const trigger = { kind: 'mail', fields: { credential: 'inbox' }, intervalSeconds: 0 };
  await putTrigger(store.conn, project, { ...names, ...trigger });
});

async function claimed(): Promise<PollRef> {
  const claim = await claimPoll(store.conn, project, UID, 'pod-1');
  if (claim.outcome !== 'claimed') throw new Error(`not claimed: ${claim.outcome}`);
  return claim.ref;
}

/** A poll that works, and brings this cursor. */
async function poll(cursor: string, found: { events?: number; lost?: string } = {}): Promise<void> {
  await movePoll(store.conn, await claimed(), { cursor, more: false, ...found });
}

type Poll = NonNullable<Workflow['status']>['poll'];

/** The reconciler of the workflow, with what it has written. */
function subject(annotations: Record<string, string> = {}) {
  const metadata = { ...KEY, uid: UID, annotations };
  const kind = { apiVersion: 'windlass.dev/v1alpha1' as const, metadata };
  let workflow: Workflow = { ...kind, kind: 'Workflow', spec: { active: true, nodes: [] } };
  let route: WebhookRoute = {
    ...kind,
    kind: 'WebhookRoute',
    spec: {
      workflow: 'orders',
      workflowUID: UID,
      projectUID: project,
      revision: 'orders-1',
      trigger: 'mail',
      active: true,
      poll: { trigger: 'any' },
    },
  };
  const written: (Poll | null)[] = [];
  const patch = (async (_resource: unknown, _ref: unknown, body: object) => {
    const { poll } = (body as { status: { poll: Poll | null } }).status;
    written.push(poll);
    workflow = { ...workflow, status: { conditions: [], ...(poll && { poll }) } };
    return workflow;
  }) as KubeClient['patch'];
  const clock = createManualClock();
  const context = {
    clock,
    conn: store.conn,
    events: { record: () => true },
    client: { patch },
    caches: {
      workflows: { resource: workflows, get: () => workflow, noteWrite: () => undefined },
      routes: { get: () => route },
      credentials: { get: () => undefined },
    },
  };
  const { registry, polls: metrics } = createMetrics(clock);
  const polls = createPolls(metrics);
  return {
    written,
    clock,
    /** What is shown of polled triggers, and is not zero. */
    metrics: async () => {
      const lines = (await registry.metrics()).split('\n');
      return lines.filter((line) => line.startsWith('windlass_poll_') && !line.endsWith(' 0'));
    },
    reconcile: () => reconcilePoll(KEY, { ...context, polls }),
    switchOff: () => {
      const { poll: _poll, ...spec } = route.spec;
      route = { ...route, spec: { ...spec, active: false } };
    },
  };
}

test('the status is written when something changed, and at most once a minute', async () => {
  const { written, clock, reconcile } = subject();
  await poll('a');
  await reconcile();
  expect(written).toMatchObject([{ cursor: 'a', lastPollTime: expect.any(String) as unknown }]);
  await poll('b');
  await clock.advance(MINUTE_MS - 1);
  await reconcile();
  expect(written).toHaveLength(1);
  await clock.advance(1);
  await reconcile();
  expect(written.map((poll) => poll?.cursor)).toEqual(['a', 'b']);
  await clock.advance(MINUTE_MS);
  await reconcile();
  expect(written).toHaveLength(2);
});

test('why the last poll failed is shown until one works', async () => {
  const { written, clock, reconcile } = subject();
  const failure = { reason: 'Rejected', message: 'The server refuses the password.' };
  await failPoll(store.conn, await claimed(), { ...failure, failures: 1, delayMs: 0 });
  await reconcile();
  expect(written).toEqual([{ lastError: 'Rejected: The server refuses the password.' }]);
  await poll('a');
  await clock.advance(MINUTE_MS);
  await reconcile();
  expect(written.at(-1)).toMatchObject({ cursor: 'a', lastError: null });
});

test('the status shows which requested reset was done', async () => {
  const { written, clock, reconcile } = subject({ 'windlass.dev/reset-cursor': 'now' });
  await poll('{"place":"inbox","cursor":1}');
  await reconcile();
  expect(written.at(-1)).not.toHaveProperty('reset');
  await poll('{"place":"inbox","reset":"now","cursor":2}');
  await clock.advance(MINUTE_MS);
  await reconcile();
  expect(written.at(-1)).toHaveProperty('reset', 'now');
});

test('a cursor beyond 4 KiB is not shown', async () => {
  const { written, reconcile } = subject();
  await poll('c'.repeat(4_097));
  await reconcile();
  expect(Object.keys(written[0] ?? {})).toEqual(['lastPollTime']);
});

test('of what was switched off the status forgets where it was', async () => {
  const { written, clock, reconcile, switchOff } = subject();
  await poll('a');
  await reconcile();
  switchOff();
  await clock.advance(MINUTE_MS);
  await reconcile();
  expect(written.at(-1)).toBeNull();
});

const FAILURE = { reason: 'Rejected', message: 'The server refuses the password.', failures: 1, delayMs: 0 };

test('metrics count the polls of all pods by how they ended, their events, and what was given up, each once', async () => {
  const { metrics, reconcile } = subject();
  await poll('a');
  await poll('b', { events: 3 });
  await reconcile();
  await reconcile();
  await failPoll(store.conn, await claimed(), FAILURE);
  await poll('c', { events: 4, lost: 'another account' });
  await reconcile();
  expect(await metrics()).toEqual([
    'windlass_poll_triggers{kind="mail",status="True"} 1',
    'windlass_poll_looks_total{kind="mail",outcome="Polled"} 3',
    'windlass_poll_looks_total{kind="mail",outcome="Rejected"} 1',
    'windlass_poll_events_total{kind="mail"} 7',
    'windlass_poll_baselines_lost_total{kind="mail"} 1',
  ]);
});

test('metrics say how the trigger is, and for how long no poll has worked; after a while without the run store nobody knows', async () => {
  const { metrics, clock, reconcile, switchOff } = subject();
  await failPoll(store.conn, await claimed(), FAILURE);
  await store.conn.command('hincrby', keysOf(project).poll(UID), 'put', '-600000');
  await reconcile();
  const late = (lines: string[]) => lines.find((line) => line.startsWith('windlass_poll_late_seconds'));
  expect(await metrics()).toContain('windlass_poll_triggers{kind="mail",status="False"} 1');
  expect(late(await metrics())).toMatch(/\{kind="mail"\} 60\d$/);
  await clock.advance(100_000);
  expect(await metrics()).toContain('windlass_poll_triggers{kind="mail",status="Unknown"} 1');
  expect(late(await metrics())).toMatch(/\{kind="mail"\} 70\d$/);
  switchOff();
  await reconcile();
  expect((await metrics()).map((line) => line.split('{')[0])).toEqual(['windlass_poll_looks_total']);
});

test('what a project writes in the place of counts and times is shown as no label, no count and no delay', async () => {
  const { metrics, reconcile } = subject();
  const junk = ['n:events', '1e999', 'n:lost', '-5', 'n:Polled', 'many', 'n:Timeout', '1.5', 'n:x"} 1', '7'];
  await store.conn.command('hset', keysOf(project).poll(UID), ...junk, 'put', 'never');
  await reconcile();
  expect(await metrics()).toEqual(['windlass_poll_triggers{kind="mail",status="Unknown"} 1']);
});
