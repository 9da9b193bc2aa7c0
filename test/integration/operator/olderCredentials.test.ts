/**
 * Which credentials of earlier revisions runners may still read, by what a real run store says of the runs.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { API_VERSION } from '../../../api/group.ts';
import type { WebhookRoute, Workflow, WorkflowRun } from '../../../api/kinds.ts';
import { asChild } from '../../../kube/apply.ts';
import type { ControllerRevision } from '../../../kube/resource.ts';
import { finish } from '../../support/runStore/calls.ts';
import { olderCredentials, type Served } from '../../../operator/project/olderCredentials.ts';
import {
  accepted,
  claimedOne,
  newProject,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

const namespace = 'shop';
const metadata = { namespace, name: 'orders', uid: 'uid-orders' };
const naming = (...credentials: string[]) =>
  credentials.map((credential, at) => ({
    id: `mail-${at}`,
    kind: 'skill',
    skill: { name: 'send_email', credential },
  }));
/** The workflow as it is now: it names the new credential and no other. */
const workflow = {
  apiVersion: API_VERSION,
  kind: 'Workflow',
  metadata,
  spec: { nodes: naming('new') },
} as unknown as Workflow;
const revisions = [
  { name: 'orders-1', credentials: ['old', 'shared'] },
  { name: 'orders-2', credentials: ['new'] },
].map(({ name, credentials }) =>
  asChild<ControllerRevision>(workflow, {
    metadata: { namespace, name },
    revision: 1,
    data: { credentials },
  }),
);

let store: TestStore;
let uid: string;
let now: number;
let served: Served | undefined;
let runs: WorkflowRun[];

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());
beforeEach(async () => {
  uid = await newProject(store.conn);
  now = 0;
  served = undefined;
  runs = [];
});

async function older(revision: string | undefined = 'orders-2'): Promise<string[]> {
  const route = revision === undefined ? undefined : ({ spec: { revision } } as WebhookRoute);
  const caches = {
    workflows: { list: () => [workflow] },
    revisions: { byIndex: () => revisions as ControllerRevision[] },
    runs: { byIndex: () => runs },
    routes: { get: () => route },
  };
  type Context = Parameters<typeof olderCredentials>[0];
  const context = { conn: store.conn, clock: { now: () => now }, caches } as unknown as Context;
  const found = await olderCredentials(context, { namespace, uid }, served);
  ({ served } = found);
  return found.names;
}

test('what an edit dropped stays readable until the runs before it have ended', async () => {
  await older('orders-1');
  await accepted(store.conn, submissionOf(uid));
  now = 60_000;
  expect(await older()).toEqual(['old', 'shared']);
  now = 120_000;
  const claim = await claimedOne(store.conn, uid);
  expect(await older()).toEqual(['old', 'shared']);
  await finish(store.conn, claim, { phase: 'Succeeded' });
  expect(await older()).toEqual([]);
});

test('an event that a gateway takes for the revision before, just after an edit, finds its credentials', async () => {
  await older('orders-1');
  expect(await older()).toEqual(['old', 'shared']);
  now = 29_000;
  await accepted(store.conn, submissionOf(uid));
  now = 31_000;
  expect(await older()).toEqual(['old', 'shared']);
});

test('without runs before it an edit takes effect half a minute later, and at once where the operator has just started', async () => {
  expect(await older()).toEqual([]);
  served = new Map();
  expect(await older()).toEqual(['old', 'shared']);
  now = 30_000;
  expect(await older()).toEqual([]);
});

test('a run that is made of an earlier revision has its credentials', async () => {
  expect(await older()).toEqual([]);
  runs = [{ metadata: { name: 'again' }, spec: { workflow: 'orders', revision: 'orders-1' } } as WorkflowRun];
  expect(await older()).toEqual(['old', 'shared']);
});
