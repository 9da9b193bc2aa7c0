/** A Redis Cluster that changes while programs use it: slots migrate, and the cluster is created again. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openProject } from '../../../runs/project.ts';
import { submit } from '../../../runs/submit.ts';
import { slotOf } from '../../../store/clusterSlots.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog, type CollectedLog } from '../../support/logs/collectedLog.ts';
import { clusterURL, startCluster, startMember, type TestCluster } from '../../support/runStore/cluster.ts';
import { accepted, newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { slotMigration } from '../../support/runStore/slotMigration.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000, everyMs: 20 };

let cluster: TestCluster;
let log: CollectedLog;
const opened: RunStoreConnection[] = [];
beforeAll(async () => {
  cluster = await startCluster();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});
afterAll(() => cluster?.stop());

async function connect(url: string): Promise<RunStoreConnection> {
  log = createCollectedLog();
  const conn = connectRunStore({ url, name: 'program', log });
  opened.push(conn);
  await conn.ready();
  return conn;
}

const slotOfProject = (project: string) => slotOf(keysOf(project).meta);

async function newProjectWhere(conn: RunStoreConnection, is: (primary?: string) => boolean): Promise<string> {
  for (;;) {
    const project = await newProject(conn);
    if (is(conn.primaryOf(project))) return project;
  }
}

/**
 * A project, another one of its primary, that primary, and the migration of the project's slot to another
 * primary.
 */
async function projectsOfOnePrimary(conn: RunStoreConnection) {
  const project = await newProject(conn);
  const other = await newProjectWhere(conn, (primary) => primary === conn.primaryOf(project));
  const elsewhere = await newProjectWhere(conn, (primary) => primary !== conn.primaryOf(project));
  const slot = slotOfProject(project);
  const [from, to] = [await cluster.primaryOf(slot), await cluster.primaryOf(slotOfProject(elsewhere))];
  return { project, other, from, migration: slotMigration(slot, from, to) };
}

const untilAccepted = (conn: RunStoreConnection, project: string): Promise<unknown> =>
  pollUntil(
    'an accepted event',
    async () => (await submit(conn, submissionOf(project))).outcome === 'accepted',
    SOON,
  );

test('events of other projects are accepted after a barrier whose project has a slot that migrates', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, migration } = await projectsOfOnePrimary(conn);
  await accepted(conn, submissionOf(other));
  await migration.begin();
  const call = () => conn.command('exists', keysOf(project).meta);
  await expect(conn.replicated(project, call)).rejects.toThrow('ASK');
  await accepted(conn, submissionOf(other));
  await migration.migrateKeys();
  await migration.end();
  await accepted(conn, submissionOf(other));
  await untilAccepted(conn, project);
  expect([...log.messages('error'), ...log.messages('warn')]).toEqual([]);
});

test('calls that wait for the same barrier are confirmed, except those of a project whose slot migrates', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, migration } = await projectsOfOnePrimary(conn);
  await accepted(conn, submissionOf(other));
  await migration.begin();
  const call = (of: string) => conn.replicated(of, () => conn.command('exists', keysOf(of).meta));
  const answers = await Promise.allSettled([project, project, other, other].map(call));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  await migration.migrateKeys();
  await migration.end();
  await untilAccepted(conn, project);
});

test('a slot that migrates while replicas do not confirm keeps no other project waiting once they do', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, from, migration } = await projectsOfOnePrimary(conn);
  await accepted(conn, submissionOf(project));
  const replicas = await cluster.replicasOf(from);
  for (const replica of replicas) replica.freeze();
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'unavailable' });
  await migration.begin();
  await migration.migrateKeys();
  await migration.end();
  for (const replica of replicas) replica.thaw();
  await untilAccepted(conn, other);
  await untilAccepted(conn, project);
  await cluster.settled(1);
});

test('a Redis Cluster that was created again is used as it is now', async () => {
  const members = [await startMember(), await startMember()] as const;
  const [first, second] = members;
  await first.call('cluster', 'addslotsrange', '0', '16383');
  await first.call('cluster', 'set-config-epoch', '9');
  const isUp = async () => String(await first.call('cluster', 'info')).includes('cluster_state:ok');
  await pollUntil('a cluster', isUp, SOON);
  const conn = await connect(clusterURL(members, 0));
  await accepted(conn, submissionOf(await newProject(conn)));

  await first.call('flushall');
  await first.call('cluster', 'reset', 'hard');
  await second.call('cluster', 'set-config-epoch', '1');
  await first.call('cluster', 'addslotsrange', '0', '8191');
  await second.call('cluster', 'addslotsrange', '8192', '16383');
  await first.call('cluster', 'meet', second.address, String(second.port), String(second.busPort));
  let project = 'project-0';
  for (let count = 1; slotOfProject(project) < 8_192; count += 1) project = `project-${count}`;
  const isAccepted = async () => {
    await openProject(conn, project);
    return (await submit(conn, submissionOf(project))).outcome === 'accepted';
  };
  await pollUntil('an accepted event', isAccepted, { timeoutMs: 30_000, everyMs: 200 });
  expect(conn.primaryOf(project)).toBe(`127.0.0.1:${second.port}`);
  await Promise.all(members.map((member) => member.stop()));
});
