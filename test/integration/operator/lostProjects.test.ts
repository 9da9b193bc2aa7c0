/** Looking for projects that the run store has lost, where there are many. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookRoute } from '../../../api/kinds.ts';
import { createStoreChanges } from '../../../operator/store/changes.ts';
import { watchStore } from '../../../operator/store/watch.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';
import { createManualClock } from '../../support/time/manualClock.ts';
import { pollUntil } from '../../support/time/poll.ts';

const MANY = 450;
const SOON = { timeoutMs: 10_000, everyMs: 5 };
const projects = Array.from({ length: MANY }, (_, index) => `project-${index}`);
const namespaceOf = (project: string) => `of-${project}`;
const meta = (project: string) => keysOf(project).meta;
const ALL_ASLEEP = new Map(projects.map((project) => [namespaceOf(project), true]));

let store: TestStore;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store.stop());

/** Watches the projects in the background. `found`: the namespaces that were said to be lost. */
function watch(asleep: ReadonlyMap<string, boolean> = new Map()) {
  const clock = createManualClock();
  const storeChanges = createStoreChanges();
  const found = new Set<string>();
  storeChanges.project.onChange((namespace) => void found.add(namespace));
  const routes = projects.map(
    (project) =>
      ({ metadata: { namespace: namespaceOf(project) }, spec: { projectUID: project } }) as WebhookRoute,
  );
  const stopping = new AbortController();
  const watching = watchStore(
    {
      conn: store.conn,
      clock,
      log: createCollectedLog(),
      caches: { routes: { list: () => routes, onChange: () => () => undefined } },
      store: { invalidateAll: () => undefined },
      storeChanges,
      scaling: { asleep },
    },
    stopping.signal,
  );
  return {
    found,
    /** Resolves after so many more readings. */
    readings: async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        await pollUntil('the end of a reading', () => clock.timers() > 0, SOON);
        await clock.advance(1_000);
      }
      await pollUntil('the end of the last reading', () => clock.timers() > 0, SOON);
    },
    end: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/** How often the run store has executed this command. */
async function callsOf(command: string): Promise<number> {
  const stats = String(await store.conn.command('info', 'commandstats'));
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}

async function fill(): Promise<void> {
  for (const project of projects) await store.conn.command('hset', meta(project), 'id', project);
}

test.each([0, 199, 200, 449])(
  'project %i of 450, which alone lost its data, is found within three readings',
  async (index) => {
    await fill();
    const watched = watch();
    await watched.readings(1);
    expect([...watched.found]).toEqual([]);
    const lost = String(projects[index]);
    await store.conn.command('unlink', meta(lost));
    await watched.readings(3);
    expect([...watched.found]).toEqual([namespaceOf(lost)]);
    await watched.end();
  },
);

test.each([0, 14, 15, 449])(
  'project %i of 450 that sleep, which alone lost its data, is found within 30 readings',
  async (index) => {
    await fill();
    const watched = watch(ALL_ASLEEP);
    await watched.readings(1);
    const lost = String(projects[index]);
    await store.conn.command('unlink', meta(lost));
    await watched.readings(30);
    expect([...watched.found]).toEqual([namespaceOf(lost)]);
    await watched.end();
  },
);

test('a project that sleeps is found within 30 readings, also where others wake and fall asleep', async () => {
  await fill();
  const asleep = new Map(ALL_ASLEEP);
  const watched = watch(asleep);
  await watched.readings(1);
  const lost = String(projects[30]);
  await store.conn.command('unlink', meta(lost));
  asleep.set(namespaceOf('project-0'), false);
  await watched.readings(29);
  asleep.set(namespaceOf('project-0'), true);
  await watched.readings(1);
  expect([...watched.found]).toEqual([namespaceOf(lost)]);
  await watched.end();
});

test('30 readings ask for each project that sleeps once, and for those that are awake each time', async () => {
  await fill();
  const asleep = new Map(projects.slice(10).map((project) => [namespaceOf(project), true]));
  const watched = watch(asleep);
  await watched.readings(1);
  const before = await callsOf('hget');
  await watched.readings(30);
  expect((await callsOf('hget')) - before).toBe(30 * 10 + 440);
  await watched.end();
});

test.each([
  ['are awake', new Map<string, boolean>()],
  ['sleep', ALL_ASLEEP],
])('all projects that %s and lost their data are found at the next reading', async (_what, asleep) => {
  await fill();
  const watched = watch(asleep);
  await watched.readings(1);
  await store.conn.command('unlink', ...projects.map(meta));
  await watched.readings(1);
  expect(watched.found.size).toBe(MANY);
  await watched.end();
});
