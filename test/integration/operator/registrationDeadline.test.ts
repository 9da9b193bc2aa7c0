/**
 * For how long a Credential waits for the webhook of its bot to be deleted, at a real API server and by a clock that the test moves: nobody
 * answers, and it goes after a minute, with its namespace or alone.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential } from '../../../api/kinds.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import type { Action, Key } from '../../../kube/controller.ts';
import { createRecorder, type Recorder } from '../../../kube/events.ts';
import { events, namespaces } from '../../../kube/resource.ts';
import { FINALIZER } from '../../../operator/registration/mark.ts';
import { createRegistrationReconciler } from '../../../operator/registration/registrations.ts';
import { credentials } from '../../../operator/resources.ts';
import { createWorld, startWorld, synced, type World } from '../../../operator/world.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { startOperatorStage, SYSTEM, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';

const PUBLIC_URL = 'https://hooks.example.com';
const WITHIN = { timeoutMs: 10_000, everyMs: 20 };

let stage: OperatorStage;
/** With the operator's rights. */
let client: KubeClient;
let world: World;
const ended = new AbortController();
let following: Promise<void>;
let clock: ManualClock;
let recorder: Recorder;
let reconcile: (key: Key) => Promise<Action>;

beforeAll(async () => {
  stage = await startOperatorStage();
  client = createClient(stage.connection, { fieldManager: 'windlass-operator' });
  world = createWorld({ client, namespace: SYSTEM, watched: [], log: stage.log });
  following = startWorld(world, ended.signal);
  await synced(world);
}, 600_000);

afterAll(async () => {
  ended.abort();
  await following;
  await client?.close();
  await stage?.stop();
});

beforeEach(() => {
  const { conn, log } = stage;
  clock = createManualClock();
  recorder = createRecorder(client, 'windlass.dev/operator', { log, clock });
  const known = { registrations: new Map(), grantedSecrets: new Map() };
  const context = { client, world, conn, log, clock, config: { PUBLIC_URL }, ...known };
  reconcile = createRegistrationReconciler(context, { events: recorder, onChange: () => undefined });
});

/** A Credential that may be registered, and is being deleted. */
async function goingCredential(namespace: string): Promise<Key> {
  const key = { namespace, name: 'helper' };
  const manifest = {
    metadata: { ...key, finalizers: [FINALIZER] },
    spec: { bot: { tokenRef: { name: 'bots', key: 'token' } } },
  };
  await stage.client.create(credentials, manifest);
  return key;
}

async function deleteIt(key: Key): Promise<void> {
  await stage.client.delete(credentials, key);
  const isSeen = () =>
    Promise.resolve(world.credentials.get(key.namespace, key.name)?.metadata.deletionTimestamp !== undefined);
  await pollUntil('the deletion being seen', isSeen, WITHIN);
}

const find = (key: Key): Promise<Credential | undefined> => stage.client.find(credentials, key);

/** Lets a minute pass, and sees that the Credential is there until it is over, and looked at all the time. */
async function waitItOut(key: Key): Promise<void> {
  for (const ms of [0, ...Array<number>(29).fill(2_000), 1_900]) {
    await clock.advance(ms);
    const action = await reconcile(key);
    expect(action.kind === 'after' && action.ms <= 2_000).toBe(true);
    expect((await find(key))?.metadata.finalizers).toEqual([FINALIZER]);
  }
  await clock.advance(100);
  await reconcile(key);
}

test('a Credential that is deleted while nobody can delete the webhook goes after a minute and not before, and what stays is told', async () => {
  const { namespace } = await stage.createProject();
  const key = await goingCredential(namespace);
  await deleteIt(key);
  await waitItOut(key);
  expect(await find(key)).toBeUndefined();
  await recorder.flush();
  const { items } = await stage.client.list(events, { namespace });
  expect(items.map(({ reason, note }) => [reason, note])).toEqual([
    ['NotUnregistered', expect.stringContaining('no runner has answered in time')],
  ]);
});

test('a namespace that is deleted is kept from going for a minute at most', async () => {
  const { namespace } = await stage.createProject();
  const key = await goingCredential(namespace);
  await stage.client.delete(namespaces, { name: namespace });
  // There is no namespace controller here; this is what it does.
  await deleteIt(key);
  await waitItOut(key);
  expect(await find(key)).toBeUndefined();
});
