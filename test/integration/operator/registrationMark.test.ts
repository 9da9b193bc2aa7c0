/**
 * The mark on the Credential of a bot, at a real API server, and by a clock that the test moves: it is there
 * before anything is asked for, and goes after a minute where nobody answers, with its namespace or alone.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Credential } from '../../../api/kinds.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import type { Action, Key } from '../../../kube/controller.ts';
import { createRecorder, type Recorder } from '../../../kube/events.ts';
import { createScalingState } from '../../../operator/scaling/state.ts';
import { readConfig } from '../../../operator/shared/config.ts';
import { deployments, events, namespaces } from '../../../kube/resource.ts';
import { POOL, POOL_LABELS } from '../../../operator/shared/names.ts';
import { BOT_FINALIZER } from '../../../api/bot.ts';
import { reconcileRegistration } from '../../../operator/registration/controller.ts';
import { createRegistrations } from '../../../operator/registration/registrations.ts';
import { credentials, webhookRoutes } from '../../../operator/shared/resources.ts';
import { createCaches, startCaches, synced, type Caches } from '../../../operator/shared/caches.ts';
import { openProject } from '../../../runs/project.ts';
import { REGISTRATIONS } from '../../../store/requests/registrations.ts';
import { createManualClock, type ManualClock } from '../../support/time/manualClock.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const PUBLIC_URL = 'https://hooks.example.com';
const WITHIN = { timeoutMs: 10_000, everyMs: 20 };

let harness: OperatorHarness;
/** With the operator's rights. */
let client: KubeClient;
let caches: Caches;
const ended = new AbortController();
let following: Promise<void>;
let clock: ManualClock;
let recorder: Recorder;
let reconcile: (key: Key) => Promise<Action>;

beforeAll(async () => {
  harness = await startOperatorHarness();
  client = createClient(harness.connection, { fieldManager: 'windlass-operator' });
  caches = createCaches({ client, namespace: SYSTEM, watched: [], log: harness.log });
  following = startCaches(caches, ended.signal);
  await synced(caches);
}, 600_000);

afterAll(async () => {
  ended.abort();
  await following;
  await client?.close();
  await harness?.stop();
});

beforeEach(() => {
  clock = createManualClock();
  recorder = createRecorder(client, 'windlass.dev/operator', { log: harness.log, clock });
  reconcile = reconcilerWith(client);
});

/** In the namespaces of `granted` runners may read the token. */
function reconcilerWith(client: KubeClient, granted: string[] = []): (key: Key) => Promise<Action> {
  const { conn, log } = harness;
  const grantedSecrets = new Map(granted.map((namespace) => [namespace, ['bots']]));
  const config = readConfig({ PUBLIC_URL, REDIS_URL: harness.redis.url, RUNNER_IMAGE: 'none' });
  const scaling = createScalingState();
  const known = { registrations: createRegistrations(), pools: { grantedSecrets }, scaling };
  const context = { client, caches, conn, events: recorder, log, clock, config, ...known };
  return (key) => reconcileRegistration(key, context);
}

async function createCredential(namespace: string, finalizers: string[]): Promise<Key & { uid: string }> {
  const key = { namespace, name: 'helper' };
  const spec = { bot: { tokenRef: { name: 'bots', key: 'token' } } };
  const { metadata } = await harness.client.create(credentials, { metadata: { ...key, finalizers }, spec });
  return { ...key, uid: metadata.uid ?? '' };
}

/** A Credential that may be registered, and is being deleted. */
const goingCredential = (namespace: string) => createCredential(namespace, [BOT_FINALIZER]);

/**
 * What asking takes: the project's place in the run store, a runner, and the route of a workflow that has the
 * bot.
 */
async function wantBot(namespace: string, project: string): Promise<void> {
  await openProject(harness.conn, project);
  const labels = { ...POOL_LABELS };
  const containers = [{ name: 'runner', image: 'windlass:test' }];
  const template = { metadata: { labels }, spec: { containers } };
  await harness.client.create(deployments, {
    metadata: { namespace, name: POOL, labels },
    spec: { selector: { matchLabels: labels }, template },
  });
  const material = '0123456789abcdef';
  const verify = { secretRefs: [{ name: 'bots', key: 'token' }], toleranceSeconds: 300, material };
  const workflow = { workflow: 'answers', workflowUID: 'answers-1', projectUID: project, revision: 'r-1' };
  const bot = { credential: 'helper', platform: 'telegram' as const, verify };
  await harness.client.create(webhookRoutes, {
    metadata: { namespace, name: 'answers' },
    spec: { ...workflow, trigger: 'bot', active: true, bot },
  });
  const isSeen = () => {
    const runners = caches.deployments.get(namespace, POOL)?.status?.availableReplicas;
    return Promise.resolve(runners === 1 && caches.routes.get(namespace, 'answers') !== undefined);
  };
  await pollUntil('all of it being seen', isSeen, WITHIN);
}

async function deleteIt(key: Key): Promise<void> {
  await harness.client.delete(credentials, key);
  const isSeen = () =>
    Promise.resolve(
      caches.credentials.get(key.namespace, key.name)?.metadata.deletionTimestamp !== undefined,
    );
  await pollUntil('the deletion being seen', isSeen, WITHIN);
}

const find = (key: Key): Promise<Credential | undefined> => harness.client.find(credentials, key);

/**
 * Lets a minute pass, and sees that the Credential is there until it is over, and reconciled all the time.
 */
async function waitItOut(key: Key): Promise<void> {
  for (const ms of [0, ...Array<number>(29).fill(2_000), 1_900]) {
    await clock.advance(ms);
    const action = await reconcile(key);
    expect(action.kind === 'after' && action.ms <= 2_000).toBe(true);
    expect((await find(key))?.metadata.finalizers).toEqual([BOT_FINALIZER]);
  }
  await clock.advance(100);
  await reconcile(key);
}

test('nobody is asked to register a bot before its Credential has the mark', async () => {
  const { namespace, uid: project } = await harness.createProject();
  const { uid, ...key } = await createCredential(namespace, []);
  await wantBot(namespace, project);
  const ended = { ...client, patch: () => Promise.reject(new Error('ended')) };
  await expect(reconcilerWith(ended, [namespace])(key)).rejects.toThrow('ended');
  expect(await REGISTRATIONS.read(harness.conn, project, uid)).not.toHaveProperty('waiting');
  await reconcilerWith(client, [namespace])(key);
  expect((await find(key))?.metadata.finalizers).toEqual([BOT_FINALIZER]);
  expect(await REGISTRATIONS.read(harness.conn, project, uid)).toHaveProperty('waiting');
});

test('a Credential that is deleted while nobody can delete the webhook goes after a minute and not before, and what stays is told', async () => {
  const { namespace } = await harness.createProject();
  const key = await goingCredential(namespace);
  await deleteIt(key);
  await waitItOut(key);
  expect(await find(key)).toBeUndefined();
  await recorder.flush();
  const { items } = await harness.client.list(events, { namespace });
  expect(items.map(({ reason, note }) => [reason, note])).toEqual([
    ['NotUnregistered', expect.stringContaining('no runner has answered in time')],
  ]);
});

test('a namespace that is deleted is kept from going for a minute at most', async () => {
  const { namespace } = await harness.createProject();
  const key = await goingCredential(namespace);
  await harness.client.delete(namespaces, { name: namespace });
  // There is no namespace controller here; this is what it does.
  await deleteIt(key);
  await waitItOut(key);
  expect(await find(key)).toBeUndefined();
});
