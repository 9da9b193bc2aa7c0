/** A Redis Cluster: where calls go, failovers, slots that move, and servers that are wrong. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { slotOf } from '../../../store/clusterSlots.ts';
import {
  connectRunStore,
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
} from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { forEachPage } from '../../../store/scan.ts';
import { defineScript } from '../../../store/script.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { clusterURL, startCluster, startMember, type TestCluster } from '../../support/runStore/cluster.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { accepted, newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { slotMigration } from '../../support/runStore/slotMigration.ts';
import { pollUntil } from '../../support/time/poll.ts';

const unavailable = { outcome: 'unavailable', why: 'connection' };
const SOON = { timeoutMs: 20_000, everyMs: 20 };

let cluster: TestCluster;
let conn: RunStoreConnection;
const others: RunStoreConnection[] = [];
beforeAll(async () => {
  cluster = await startCluster();
  conn = connectRunStore({ url: cluster.url(1), name: 'test' });
  await conn.ready();
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((each) => each.close()));
});
afterAll(async () => {
  await conn?.close();
  await cluster?.stop();
});

/** Breaks off in the middle where the slot migrates. */
const REMOVE_AND_READ = defineScript({
  keys: ['counter'],
  body: `
    redis.call('UNLINK', counter)
    return redis.call('GET', counter)
  `,
});

const slotOfProject = (project: string) => slotOf(keysOf(project).meta);

/** A new project on another primary than those of `but`. */
async function projectElsewhere(but: readonly string[]): Promise<string> {
  const taken = but.map((project) => conn.primaryOf(project));
  for (;;) {
    const project = await newProject(conn);
    if (!taken.includes(conn.primaryOf(project))) return project;
  }
}

async function threeProjects(): Promise<[string, string, string]> {
  const first = await newProject(conn);
  const second = await projectElsewhere([first]);
  return [first, second, await projectElsewhere([first, second])];
}

test('each project is on the primary that has its slot, and its events are accepted there', async () => {
  const projects = await threeProjects();
  expect(new Set(projects.map((project) => conn.primaryOf(project))).size).toBe(3);
  for (const project of projects) {
    const run = await accepted(conn, submissionOf(project));
    expect(await readRun(conn, project, run)).toMatchObject({ run });
    const server = await cluster.primaryOf(slotOfProject(project));
    expect(conn.primaryOf(project)).toBe(`127.0.0.1:${server.port}`);
  }
});

test('a scan finds the keys of all primaries once', async () => {
  const projects = await threeProjects();
  const found: string[] = [];
  await forEachPage(conn, 'wl:*', (names) => Promise.resolve(void found.push(...names)));
  expect(new Set(found).size).toBe(found.length);
  expect(found).toEqual(expect.arrayContaining(projects.map((project) => keysOf(project).meta)));
  const own: string[] = [];
  const pattern = `${keysOf(projects[0]).prefix}*`;
  await forEachPage(conn, pattern, (names) => Promise.resolve(void own.push(...names)));
  expect(own).toContain(keysOf(projects[0]).meta);
  expect(own.filter((name) => !name.startsWith(keysOf(projects[0]).prefix))).toEqual([]);
});

test('a message reaches only subscribers of its channel, from every primary', async () => {
  const projects = await threeProjects();
  const told: string[] = [];
  let subscribed = 0;
  for (const project of projects)
    await conn.subscriber().subscribe(keysOf(project).ready, (message) => {
      if (message === undefined) subscribed += 1;
      else told.push(project);
    });
  await pollUntil('three subscriptions', () => subscribed === 3, SOON);
  for (const project of projects) await accepted(conn, submissionOf(project));
  await pollUntil('three messages', () => told.length === 3, SOON);
  expect(told.toSorted()).toEqual([...projects].toSorted());
});

test('a primary that is killed under load: nothing accepted is lost, and other projects go on', async () => {
  const [project, other] = await threeProjects();
  const server = await cluster.primaryOf(slotOfProject(project));
  const stop = new AbortController();
  const acceptedRuns: string[] = [];
  const refusedElsewhere: unknown[] = [];
  let failovers = 0;
  let failoversElsewhere = 0;
  /** Calls to the promoted server before the listener was called: a claim would be made despite the pause. */
  let untold = 0;
  const client = async (name: string) => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      if (conn.primaryOf(project) !== `127.0.0.1:${server.port}` && failovers === 0) untold += 1;
      const outcome = await submit(conn, submissionOf(project, { dedupeKey: `${name}-${count}` }));
      if (outcome.outcome === 'accepted') acceptedRuns.push(outcome.run);
    }
  };
  const beside = async () => {
    while (!stop.signal.aborted) {
      const outcome = await submit(conn, submissionOf(other));
      if (outcome.outcome !== 'accepted') refusedElsewhere.push(outcome);
    }
  };
  conn.onFailover(project, () => void (failovers += 1));
  conn.onFailover(other, () => void (failoversElsewhere += 1));
  const clients = [beside(), ...Array.from({ length: 8 }, (_, index) => client(`client-${index}`))];
  await pollUntil('some events', () => acceptedRuns.length > 300, SOON);
  await server.kill();
  await pollUntil('a promotion', async () => conn.primaryOf(project) !== `127.0.0.1:${server.port}`, SOON);
  const before = acceptedRuns.length;
  // Its only replica is the primary now: nothing confirms.
  expect(await submit(conn, submissionOf(project))).toMatchObject(unavailable);
  await server.restart();
  await pollUntil('events that are accepted again', () => acceptedRuns.length > before + 100, SOON);
  stop.abort();
  await Promise.all(clients);
  expect(failovers).toBe(1);
  expect(untold).toBe(0);
  expect(failoversElsewhere).toBe(0);
  expect(refusedElsewhere).toEqual([]);
  const states = await Promise.all(acceptedRuns.map((run) => readRun(conn, project, run)));
  expect(states.filter((state) => state === undefined || isUnavailable(state))).toEqual([]);
  await cluster.settled(1);
});

test('a primary and its replica that are both killed: 503 for their projects, others go on, and everything is there after their return', async () => {
  const [project, other] = await threeProjects();
  const run = await accepted(conn, submissionOf(project));
  const primary = await cluster.primaryOf(slotOfProject(project));
  const both = [primary, ...(await cluster.replicasOf(primary))];
  await Promise.all(both.map((server) => server.kill()));
  expect(await submit(conn, submissionOf(project))).toMatchObject(unavailable);
  expect(await submit(conn, submissionOf(other))).toMatchObject({ outcome: 'accepted' });
  await Promise.all(both.map((server) => server.restart()));
  await cluster.settled(1);
  await pollUntil(
    'an event that is accepted',
    async () => (await submit(conn, submissionOf(project))).outcome === 'accepted',
    SOON,
  );
  expect(await readRun(conn, project, run)).toMatchObject({ run });
});

test('a slot that migrates: 503 until it is set, then the project is where its slot is, with all of its runs', async () => {
  const [project, other] = await threeProjects();
  const run = await accepted(conn, submissionOf(project));
  const slot = slotOfProject(project);
  const [from, to] = [await cluster.primaryOf(slot), await cluster.primaryOf(slotOfProject(other))];
  const migration = slotMigration(slot, from, to);
  await conn.command('set', `${keysOf(project).prefix}own`, 'value');
  let moves = 0;
  let messages = 0;
  conn.onFailover(project, () => void (moves += 1));
  await conn.subscriber().subscribe(keysOf(project).ready, (entry) => void (messages += entry ? 1 : 0));
  await migration.begin();
  expect(await submit(conn, submissionOf(project))).toMatchObject(unavailable);
  const half = orUnavailable(() => conn.script(REMOVE_AND_READ, [`${keysOf(project).prefix}own`], []));
  expect(await half).toMatchObject(unavailable);
  await migration.migrateKeys();
  expect(await submit(conn, submissionOf(project))).toMatchObject(unavailable);
  await migration.end();
  await pollUntil(
    'an event that is accepted',
    async () => (await submit(conn, submissionOf(project))).outcome === 'accepted',
    SOON,
  );
  expect(conn.primaryOf(project)).toBe(`127.0.0.1:${to.port}`);
  expect(await readRun(conn, project, run)).toMatchObject({ run });
  await pollUntil('the listener being told', () => moves === 1, SOON);
  const before = messages;
  await pollUntil(
    'messages of the new server',
    async () => {
      await accepted(conn, submissionOf(project));
      return messages > before;
    },
    SOON,
  );
});

test('the project of a slot that no server has gets 503, and others go on', async () => {
  const [project, other] = await threeProjects();
  const log = createCollectedLog();
  const told = connectRunStore({ url: cluster.url(1), name: 'told', log });
  others.push(told);
  await told.ready();
  await accepted(told, submissionOf(project));
  const slot = String(slotOfProject(project));
  const server = await cluster.primaryOf(Number(slot));
  for (const { call } of cluster.servers) await call('cluster', 'delslots', slot);
  await pollUntil(
    'a refused event',
    async () => isUnavailable(await submit(told, submissionOf(project))),
    SOON,
  );
  await pollUntil(
    'a line of the log',
    () => log.messages('warn').includes('run store: slots without a server'),
    SOON,
  );
  expect(await submit(told, submissionOf(project))).toMatchObject(unavailable);
  expect(await submit(told, submissionOf(other))).toMatchObject({ outcome: 'accepted' });
  await server.call('cluster', 'addslots', slot);
  await pollUntil(
    'an accepted event',
    async () => (await submit(told, submissionOf(project))).outcome === 'accepted',
    SOON,
  );
  await cluster.settled(1);
});

test('a program connects to the primaries that its calls need, and to no other', async () => {
  const [project] = await threeProjects();
  const runner = connectRunStore({ url: cluster.url(0), name: 'runner' });
  others.push(runner);
  await runner.ready();
  await accepted(runner, submissionOf(project));
  expect(runner.healthy()).toBe(true);
  const lists = await Promise.all(cluster.servers.map(({ call }) => call('client', 'list')));
  expect(lists.filter((list) => String(list).includes('name=runner '))).toHaveLength(1);
});

test('a connection that was closed answers no call, and opens no other', async () => {
  const project = await newProject(conn);
  const closed = connectRunStore({ url: cluster.url(1), name: 'closed' });
  await closed.ready();
  await accepted(closed, submissionOf(project));
  await closed.close();
  expect(await submit(closed, submissionOf(project))).toMatchObject(unavailable);
  const server = await cluster.primaryOf(slotOfProject(project));
  expect(String(await server.call('client', 'list'))).not.toContain('name=closed');
});

/** The problem that the log of a new connection names, and how it answers an event. */
async function problemOf(url: string) {
  const log = createCollectedLog();
  const wrong = connectRunStore({ url, name: 'wrong', log });
  others.push(wrong);
  const found = await pollUntil(
    'a line of the log',
    () => log.entries.find(({ level }) => level === 'warn'),
    SOON,
  );
  return { answer: await submit(wrong, submissionOf('project-1')), message: found.message, ...found.fields };
}

const noCluster = (problem: string) => ({
  answer: unavailable,
  message: 'run store: no cluster found',
  problem,
});

test('a single server in the place of a Redis Cluster is named in the log', async () => {
  const single = await startRedis();
  expect(await problemOf(clusterURL([single], 0))).toMatchObject(noCluster('servers belong to no cluster'));
  await single.stop();
});

test('a cluster whose slots nobody has is named in the log', async () => {
  const member = await startMember({ config: ['cluster-require-full-coverage yes'] });
  expect(await problemOf(clusterURL([member], 0))).toMatchObject(noCluster('cluster is down'));
  await member.stop();
});

test('a wrong password and servers that do not answer are named in the log', async () => {
  const closed = await startMember({ acl: 'user default on >secret ~* &* +@all\n' });
  expect(await problemOf(clusterURL([closed], 0))).toMatchObject(noCluster('servers refuse the question'));
  await closed.stop();
  expect(await problemOf(clusterURL([closed], 0))).toMatchObject(noCluster('no server answers'));
});
