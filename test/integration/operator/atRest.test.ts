/** What the operator leaves out for projects whose runners sleep, and when it reads them all the same. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WebhookRoute, Workflow } from '../../../api/kinds.ts';
import type { Namespace } from '../../../kube/resource.ts';
import { createQuotaSetter } from '../../../operator/store/allQuotas.ts';
import { createMeasurer } from '../../../operator/store/measurer.ts';
import type { WorkflowReading } from '../../../operator/store/workflowMetrics.ts';
import { maintainWriteBudget } from '../../../operator/writeBudget/maintain.ts';
import { openProject } from '../../../runs/project.ts';
import { setWriteBudget } from '../../../runs/limits.ts';
import { readDemands } from '../../../runs/survey.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import {
  accepted,
  newProject,
  startRunStore,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';
import { createManualClock, type ManualClock } from '../../support/time/manualClock.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 10_000, everyMs: 5 };
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

let store: TestStore;
let clock: ManualClock;
/** The projects, by the name of the namespace. */
let projects: Map<string, string>;
let asleep: Map<string, boolean>;
/** Namespaces with a workflow and its route. */
let routed: string[];
let changeHandlers: (() => void)[];

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store.stop());
beforeEach(async () => {
  clock = createManualClock();
  projects = new Map([
    ['shop', await newProject(store.conn)],
    ['mail', await newProject(store.conn)],
  ]);
  asleep = new Map([...projects.keys()].map((namespace) => [namespace, true]));
  routed = [...projects.keys()];
  changeHandlers = [];
});

const onChange = (handler: never) => {
  changeHandlers.push(handler);
  return () => undefined;
};
const caches = {
  namespaces: {
    list: () => [...projects].map(([name, uid]) => ({ metadata: { name, uid } }) as Namespace),
    onChange,
  },
  routes: {
    list: (of?: string) =>
      routed
        .filter((namespace) => of === undefined || of === namespace)
        .map(
          (namespace) =>
            ({ metadata: { namespace }, spec: { projectUID: projects.get(namespace) } }) as WebhookRoute,
        ),
    onChange,
  },
  workflows: {
    list: (namespace?: string) =>
      [{ metadata: { namespace, name: 'orders', uid: 'uid-orders' }, spec: {} }] as unknown as Workflow[],
    onChange,
  },
};
const context = () => ({
  conn: store.conn,
  clock,
  log: createCollectedLog(),
  caches,
  scaling: { asleep },
  config: { RECORD_WRITES_PER_SECOND: 200, PROJECT_RECORD_WRITES_PER_SECOND: 100 },
});

/** How many commands the work sent to the run store. */
async function commandsOf(work: () => Promise<unknown>): Promise<number> {
  const count = async () =>
    Number(/total_commands_processed:(\d+)/.exec(String(await store.conn.command('info', 'stats')))?.[1]);
  const before = await count();
  await work();
  return (await count()) - before - 1;
}

function quotas() {
  const set = createQuotaSetter(context(), { seen: () => undefined });
  return async (seconds: number) => {
    await clock.advance(seconds * SECOND - clock.now());
    return (await set())?.map(({ namespace, use }) => [namespace, use.bytes > 0] as const);
  };
}

test('use: sleeping projects are read until two readings found them quiet, and then in rounds alone', async () => {
  const readAt = quotas();
  const nothing = [
    ['shop', false],
    ['mail', false],
  ];
  expect(await readAt(5)).toEqual(nothing);
  expect(await readAt(10)).toEqual(nothing);
  expect(await commandsOf(() => readAt(15))).toBe(0);
  expect(await readAt(20)).toBeUndefined();
  // Those who follow the use hear of all projects once in a round, although none was read.
  expect(await readAt(30)).toEqual(nothing);
  expect(await readAt(35)).toBeUndefined();
});

test('use: a project that wakes is read at once, and the others with it as they were', async () => {
  const readAt = quotas();
  for (const seconds of [5, 10, 15]) await readAt(seconds);
  await accepted(store.conn, submissionOf(projects.get('shop') ?? ''));
  expect(await readAt(20)).toBeUndefined();
  asleep.set('shop', false);
  expect(await readAt(25)).toEqual([
    ['shop', true],
    ['mail', false],
  ]);
});

test('use: what only expires is read again after a quarter of an hour at the latest', async () => {
  const readAt = quotas();
  for (const seconds of [5, 10]) await readAt(seconds);
  await store.conn.command('hset', keysOf(projects.get('mail') ?? '').meta, 'bytes', 7);
  expect(await readAt(15 * 60)).toEqual([
    ['shop', false],
    ['mail', true],
  ]);
});

test('use: a namespace that is no project is read in rounds, and at once when it has a route', async () => {
  const readAt = quotas();
  const [other, more] = [`other-${process.pid}`, `more-${process.pid}`];
  projects.set('other', other);
  for (const seconds of [5, 10]) expect(await readAt(seconds)).toHaveLength(2);
  expect(await readAt(15)).toBeUndefined();
  await openProject(store.conn, other);
  expect(await readAt(20)).toBeUndefined();
  expect(await readAt(30)).toHaveLength(3);
  asleep.set('other', true);
  projects.set('more', more);
  expect(await readAt(35)).toHaveLength(3);
  await openProject(store.conn, more);
  expect(await readAt(45)).toBeUndefined();
  routed.push('more');
  expect(await readAt(50)).toHaveLength(4);
});

/** Splits the write budget in the background. */
function budget() {
  const stopping = new AbortController();
  const splitting = maintainWriteBudget(context(), stopping.signal);
  const settled = () => pollUntil('the end of a split', () => clock.timers() > 0, SOON);
  return {
    /** Resolves after so many more splits. */
    splits: async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        await settled();
        await clock.advance(2 * SECOND);
      }
      await settled();
    },
    end: async () => {
      stopping.abort();
      await splitting;
    },
  };
}

async function rateOf(namespace: string): Promise<number | undefined> {
  const project = projects.get(namespace) ?? '';
  const demands = await readDemands(store.conn, [project]);
  return demands instanceof Map ? demands.get(project)?.rate : undefined;
}

test('write budget: nothing is read or written while all projects sleep, but once in ten minutes', async () => {
  const { splits, end } = budget();
  await splits(2);
  const share = await rateOf('shop');
  await setWriteBudget(store.conn, projects.get('shop') ?? '', 1_000);
  expect(await commandsOf(() => splits(200))).toBe(0);
  expect(await rateOf('shop')).toBe(1_000);
  await splits(100);
  expect(await rateOf('shop')).toBe(share);
  await end();
});

test('write budget: a project that wakes with records to write gets its share at once, also from sleeping ones', async () => {
  const { splits, end } = budget();
  await splits(2);
  await store.conn.command('zadd', keysOf(projects.get('shop') ?? '').unrecorded, 1, 'run');
  asleep.set('shop', false);
  await splits(1);
  expect([await rateOf('shop'), await rateOf('mail')]).toEqual([100, 34]);
  await end();
});

test('write budget: a new project has all shares split again', async () => {
  const { splits, end } = budget();
  await splits(2);
  const share = (await rateOf('shop')) ?? 0;
  projects.set('more', await newProject(store.conn));
  routed.push('more');
  for (const handler of changeHandlers) handler();
  await splits(1);
  expect(await rateOf('shop')).toBeLessThan(share);
  await end();
});

test('measures: projects that rest are measured when they wake, and once in an hour or so', async () => {
  let seen: readonly WorkflowReading[] = [];
  let times = 0;
  const { measure, end } = createMeasurer(context(), {
    seen: (readings) => {
      seen = readings;
      times += 1;
    },
  });
  await measure();
  expect(seen).toHaveLength(2);
  await clock.advance(15 * SECOND);
  expect(await commandsOf(measure)).toBe(0);
  expect(times).toBe(1);
  await accepted(store.conn, submissionOf(projects.get('shop') ?? ''));
  asleep.set('shop', false);
  await measure();
  expect(seen.map(({ measures }) => measures.waiting)).toEqual([1, 0]);
  await clock.advance(2 * HOUR);
  const before = times;
  asleep.set('shop', true);
  expect(await commandsOf(measure)).toBeGreaterThan(0);
  expect(times).toBe(before + 1);
  end();
});

test('measures: a workflow that is added is shown at the next reading', async () => {
  let times = 0;
  const { measure, end } = createMeasurer(context(), { seen: () => void (times += 1) });
  await measure();
  await measure();
  expect(times).toBe(1);
  for (const handler of changeHandlers) handler();
  await measure();
  expect(times).toBe(2);
  end();
});
