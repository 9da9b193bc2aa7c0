/**
 * What the operator does beside the Deployments of projects that sleep and wake: with a run store, and
 * Deployments that the test changes or leaves as they are.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import type { Deployment } from '../../../kube/resource.ts';
import { createPools } from '../../../operator/pods/pools.ts';
import { createScalingState, type ScalingState } from '../../../operator/scaling/state.ts';
import { readConfig } from '../../../operator/shared/config.ts';
import { maintainSleep } from '../../../operator/sleep/sleeper.ts';
import { createStoreChanges } from '../../../operator/store/changes.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import {
  accepted,
  newProject,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000, everyMs: 20 };
const config = readConfig({
  PUBLIC_URL: 'https://hooks.example.com',
  REDIS_URL: 'redis://store:6379',
  RUNNER_IMAGE: 'windlass:test',
  RUNNER_SLEEP_AFTER: '1m',
});

let store: TestStore;
let project: string;
let scaling: ScalingState;
/** The replicas that the Deployment asks for. */
let replicas: number;
let availableReplicas: number;
let sleepAfter: string | undefined;
let settingsChanged: () => void;
let changes: number;
/** As when the use of all projects has been read. */
let read: () => Promise<void>;
/** As when the use of all projects has been read, but of this one it could not be. */
let readOthers: () => void;
let stopping: AbortController;
let ended: Promise<void>;

beforeAll(async () => {
  store = await startRunStore();
});
afterAll(() => store?.stop());

beforeEach(async () => {
  project = await newProject(store.conn);
  scaling = createScalingState();
  [replicas, availableReplicas, sleepAfter, changes] = [0, 0, undefined, 0];
  scaling.changed.onChange(() => void (changes += 1));
  const pool = () =>
    ({
      metadata: { namespace: 'shop' },
      spec: { replicas },
      status: { availableReplicas },
    }) as unknown as Deployment;
  const settings = () => sleepAfter && { metadata: {}, spec: { runners: { sleepAfter } } };
  const caches = {
    deployments: { get: pool, list: () => [pool()] },
    namespaces: { get: () => ({ metadata: { name: 'shop', uid: project } }) },
    settings: {
      get: settings,
      onChange: (handler: () => void) => {
        settingsChanged = handler;
        return () => undefined;
      },
    },
    routes: { list: () => [] },
  };
  const storeChanges = createStoreChanges();
  const context = {
    caches: caches as never,
    clock: systemClock,
    config,
    conn: store.conn,
    log: createCollectedLog(),
    scaling,
    pools: createPools(),
    storeChanges,
  };
  read = async () => {
    const use = await readUse(store.conn, project);
    if (use === undefined || isUnavailable(use)) throw new Error(`no use: ${JSON.stringify(use)}`);
    storeChanges.used.notify([{ uid: project, namespace: 'shop', use }]);
  };
  readOthers = () => storeChanges.used.notify([]);
  stopping = new AbortController();
  ended = maintainSleep(context, stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  await ended;
});

const untilAsleep = (isAsleep: boolean) =>
  pollUntil(`asleep: ${isAsleep}`, async () => scaling.asleep.get('shop') === isAsleep, SOON);

test('a wake that could not be written is asked for again with each reading, until the Deployment has it', async () => {
  await read();
  await untilAsleep(true);
  await accepted(store.conn, submissionOf(project));
  await untilAsleep(false);
  const first = changes;
  // What the project controller tried has failed: the Deployment still asks for no runner.
  await read();
  await pollUntil('another notice', async () => changes > first, SOON);
  [replicas, availableReplicas] = [1, 1];
  const last = changes;
  await read();
  await pollUntil('the runner is noticed', async () => !scaling.waking.has('shop'), SOON);
  expect(changes).toBe(last);
});

test('runners that slept until the settings changed count as waking', async () => {
  await read();
  await untilAsleep(true);
  expect(scaling.waking.has('shop')).toBe(false);
  sleepAfter = '0s';
  settingsChanged();
  await pollUntil('waking', async () => scaling.waking.has('shop'), SOON);
  expect(scaling.asleep.has('shop')).toBe(false);
});

test.each([
  ['was read before', true],
  ['an operator finds that has just started', false],
])('a sleeping project that %s wakes for work, although its use cannot be read', async (_what, isKnown) => {
  if (isKnown) {
    await read();
    await untilAsleep(true);
  }
  await store.conn.command('set', keysOf(project).beyond, 'of a wrong type');
  await expect(read()).rejects.toThrow('damaged');
  readOthers();
  await accepted(store.conn, submissionOf(project));
  readOthers();
  await untilAsleep(false);
});

test('a sleeping project wakes before its parked run is due, although the clock of the server went back', async () => {
  await read();
  await untilAsleep(true);
  const { meta, parked } = keysOf(project);
  const before = Date.now() + 3_600_000;
  await store.conn.command('hset', meta, 'clock', before);
  await store.conn.command('zadd', parked, before + 14_000, 'run');
  expect(await untilAsleep(false)).toBe(true);
});
