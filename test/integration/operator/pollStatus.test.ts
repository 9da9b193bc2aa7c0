/** What the status of a workflow shows of its polled trigger, and how often: with a real run store, and no API server. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WebhookRoute, Workflow } from '../../../api/kinds.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { createPollReconciler } from '../../../operator/poll/status.ts';
import { claimPoll } from '../../../runs/polling/claim.ts';
import { movePoll } from '../../../runs/polling/outcome.ts';
import { putTrigger } from '../../../runs/polling/triggers.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore.ts';

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

/** A look that works, and brings this cursor. */
async function look(cursor: string): Promise<void> {
  const claim = await claimPoll(store.conn, project, UID, 'pod-1');
  if (claim.outcome !== 'claimed') throw new Error(`not claimed: ${claim.outcome}`);
  await movePoll(store.conn, claim.ref, { cursor, more: false });
}

type Poll = NonNullable<Workflow['status']>['poll'];

/** The reconciler of the workflow, with what it has written. */
function subject() {
  const kind = { apiVersion: 'windlass.dev/v1alpha1' as const, metadata: { ...KEY, uid: UID } };
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
    refusedPolls: new Map(),
    client: { patch },
    world: { workflows: { get: () => workflow, noteWrite: () => undefined }, routes: { get: () => route } },
  };
  const reconcile = createPollReconciler(context, {
    events: { record: () => undefined },
    onHealth: () => undefined,
  });
  return {
    written,
    clock,
    reconcile: () => reconcile(KEY),
    switchOff: () => {
      const { poll: _poll, ...spec } = route.spec;
      route = { ...route, spec: { ...spec, active: false } };
    },
  };
}

test('the status is written when something changed, and at most once a minute', async () => {
  const { written, clock, reconcile } = subject();
  await look('a');
  await reconcile();
  expect(written).toMatchObject([{ cursor: 'a', lastPollTime: expect.any(String) as unknown }]);
  await look('b');
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

test('a cursor beyond 4 KiB is not shown', async () => {
  const { written, reconcile } = subject();
  await look('c'.repeat(4_097));
  await reconcile();
  expect(Object.keys(written[0] ?? {})).toEqual(['lastPollTime']);
});

test('of what was switched off the status forgets where it was', async () => {
  const { written, clock, reconcile, switchOff } = subject();
  await look('a');
  await reconcile();
  switchOff();
  await clock.advance(MINUTE_MS);
  await reconcile();
  expect(written.at(-1)).toBeNull();
});
