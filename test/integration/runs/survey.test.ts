/** What the operator reads of all projects in one call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setWriteBudget } from '../../../runs/limits.ts';
import { missingProjects, projectsWithWork, readDemands } from '../../../runs/survey.ts';
import { readWork } from '../../../runs/work.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';

let store: TestStore;

beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store.stop());

/** Two projects, between them one that is not open, and one whose keys are of a wrong type. */
async function fourProjects() {
  const { conn } = store;
  const [first, damaged, last] = [await newProject(conn), await newProject(conn), await newProject(conn)];
  for (const name of ['meta', 'unrecorded'] as const) {
    const key = keysOf(damaged)[name];
    await conn.command('unlink', key);
    await conn.command('set', key, 'nonsense');
  }
  return { first, damaged, last, all: [first, 'not-open', damaged, last] };
}

test('projects without data are found among others, also beside one whose keys are damaged', async () => {
  const { all } = await fourProjects();
  expect(await missingProjects(store.conn, all)).toEqual(['not-open']);
  expect(await missingProjects(store.conn, [])).toEqual([]);
});

test('more projects than one call reads are all read', async () => {
  const missing = Array.from({ length: 450 }, (_, index) => `missing-${index}`);
  const project = await newProject(store.conn);
  expect(await missingProjects(store.conn, [...missing, project])).toEqual(missing);
});

test('the demand of each open project is its rate and the runs that wait, without damaged ones', async () => {
  const { first, last, all } = await fourProjects();
  await setWriteBudget(store.conn, first, 7);
  await store.conn.command('zadd', keysOf(last).unrecorded, 1, 'a', 2, 'b');
  const demands = await readDemands(store.conn, all);
  expect(demands).toBeInstanceOf(Map);
  const found = new Map(demands as Map<string, unknown>);
  expect(found.get(first)).toEqual({ rate: 7, waiting: 0 });
  expect(found.get(last)).toMatchObject({ waiting: 2 });
  expect(found.size).toBe(2);
});

const WITHIN_MS = 45_000;

test.each<[what: string, command: (keys: ReturnType<typeof keysOf>) => (string | number)[]]>([
  ['a run is ready', ({ ready }) => ['zadd', ready, 1, 'run']],
  ['a run is claimed', ({ claims }) => ['hset', claims, 'run', 'token']],
  ['a run is to be cancelled', ({ cancels }) => ['sadd', cancels, 'run']],
  ['a failure is to be told', ({ failures }) => ['hset', failures, 'run', '{}']],
  ['a record is behind', ({ unrecorded }) => ['zadd', unrecorded, 1, 'run']],
  ['a credential is to be checked', ({ checks }) => ['zadd', checks, 1, 'uid']],
  ['a bot is to be registered', ({ registrations }) => ['zadd', registrations, 1, 'uid']],
  ['a parked run is due soon', ({ parked }) => ['zadd', parked, Date.now() + WITHIN_MS - 5_000, 'run']],
  ['a memory has expired', ({ memoryExpiry }) => ['zadd', memoryExpiry, 1, 'group/space']],
  ['memories take too much', ({ meta }) => ['hset', meta, 'memory', 51, 'quota', 200]],
  ['a polled trigger was changed', ({ meta }) => ['hset', meta, 'pollsPut', 2, 'pollsSeen', 1]],
  ['a key is damaged', ({ parked }) => ['set', parked, 'nonsense']],
])('a project has work where %s, and one where nothing happens has none', async (_what, command) => {
  const { conn } = store;
  const [working, resting] = [await newProject(conn), await newProject(conn)];
  const [name, ...args] = command(keysOf(working));
  await conn.command(String(name), ...args);
  expect(await projectsWithWork(conn, [resting, working], WITHIN_MS)).toEqual([working]);
});

test('what is due later is no work yet, and a project that is not open may have some', async () => {
  const { conn } = store;
  const { all, damaged } = await fourProjects();
  const later = await newProject(conn);
  await conn.command('zadd', keysOf(later).parked, Date.now() + WITHIN_MS + 5_000, 'run');
  await conn.command('zadd', keysOf(later).memoryExpiry, Date.now() + 5_000, 'group/space');
  expect(await projectsWithWork(conn, [...all, later], WITHIN_MS)).toEqual(['not-open', damaged]);
});

test('a project with a parked run may have work where the clock of the server went back', async () => {
  const { conn } = store;
  const [working, resting] = [await newProject(conn), await newProject(conn)];
  const before = Date.now() + 3_600_000;
  for (const { meta } of [keysOf(working), keysOf(resting)])
    await conn.command('hset', meta, 'clock', before);
  await conn.command('zadd', keysOf(working).parked, before + 3_600_000, 'run');
  expect(await projectsWithWork(conn, [resting, working], WITHIN_MS)).toEqual([working]);
  // The first reading has the clock of the project go on from there.
  await readWork(conn, working);
  expect(await projectsWithWork(conn, [resting, working], WITHIN_MS)).toEqual([]);
});

test('a run store that is away is told as such', async () => {
  const conn = connectRunStore({ url: 'redis://127.0.0.1:1', name: 'test' });
  expect(await missingProjects(conn, ['p'])).toMatchObject({ outcome: 'unavailable' });
  expect(await readDemands(conn, ['p'])).toMatchObject({ outcome: 'unavailable' });
  expect(await projectsWithWork(conn, ['p'], 1)).toMatchObject({ outcome: 'unavailable' });
  await conn.close();
});
