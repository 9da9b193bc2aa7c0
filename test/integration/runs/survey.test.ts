/** What the operator reads of all projects in one call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setWriteBudget } from '../../../runs/limits.ts';
import { missingProjects, readDemands } from '../../../runs/survey.ts';
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

test('a run store that is away is told as such', async () => {
  const conn = connectRunStore({ url: 'redis://127.0.0.1:1', name: 'test' });
  expect(await missingProjects(conn, ['p'])).toMatchObject({ outcome: 'unavailable' });
  expect(await readDemands(conn, ['p'])).toMatchObject({ outcome: 'unavailable' });
  await conn.close();
});
