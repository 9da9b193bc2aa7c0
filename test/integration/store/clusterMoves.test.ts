/** Projects beside one whose slot moves, and a Redis Cluster that is created again while programs use it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openProject } from '../../../runs/project.ts';
import { submit } from '../../../runs/submit.ts';
import { slotOf } from '../../../store/clusterSlots.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog, type CollectedLog } from '../../support/logs/collectedLog.ts';
import {
  clusterURL,
  startCluster,
  startMember,
  type ClusterMember,
  type TestCluster,
} from '../../support/runStore/cluster.ts';
import { accepted, newProject, submissionOf } from '../../support/runStore/runStore.ts';
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
 * A project and another one of its primary. `begin` begins to move its slot to another primary, `end` moves
 * its keys and tells which primary has the slot.
 */
async function twoProjects(conn: RunStoreConnection) {
  const project = await newProject(conn);
  const other = await newProjectWhere(conn, (primary) => primary === conn.primaryOf(project));
  const elsewhere = await newProjectWhere(conn, (primary) => primary !== conn.primaryOf(project));
  const slot = slotOfProject(project);
  const [from, to] = [await cluster.primaryOf(slot), await cluster.primaryOf(slotOfProject(elsewhere))];
  const idOf = async ({ call }: ClusterMember) => String(await call('cluster', 'myid'));
  const begin = async () => {
    await to.call('cluster', 'setslot', String(slot), 'importing', await idOf(from));
    await from.call('cluster', 'setslot', String(slot), 'migrating', await idOf(to));
  };
  const end = async () => {
    const keys = (await from.call('cluster', 'getkeysinslot', String(slot), '1000')) as string[];
    await from.call('migrate', '127.0.0.1', String(to.port), '', '0', '5000', 'keys', ...keys);
    for (const { call } of [to, from]) await call('cluster', 'setslot', String(slot), 'node', await idOf(to));
  };
  return { project, other, from, begin, end };
}

const untilAccepted = (conn: RunStoreConnection, project: string): Promise<unknown> =>
  pollUntil(
    'an accepted event',
    async () => (await submit(conn, submissionOf(project))).outcome === 'accepted',
    SOON,
  );

test('a slot that moves while a barrier waits keeps no other project of its primary from being accepted', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, begin, end } = await twoProjects(conn);
  await accepted(conn, submissionOf(other));
  await begin();
  const call = () => conn.command('exists', keysOf(project).meta);
  await expect(conn.replicated(project, call)).rejects.toThrow('ASK');
  await accepted(conn, submissionOf(other));
  await end();
  await accepted(conn, submissionOf(other));
  await untilAccepted(conn, project);
  expect([...log.messages('error'), ...log.messages('warn')]).toEqual([]);
});

test('projects whose calls wait for the same barrier are confirmed without the one whose slot moves', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, begin, end } = await twoProjects(conn);
  await accepted(conn, submissionOf(other));
  await begin();
  const call = (of: string) => conn.replicated(of, () => conn.command('exists', keysOf(of).meta));
  const answers = await Promise.allSettled([project, project, other, other].map(call));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  await end();
  await untilAccepted(conn, project);
});

test('a project that moves while replicas do not confirm keeps no other one waiting once they do', async () => {
  const conn = await connect(cluster.url(1));
  const { project, other, from, begin, end } = await twoProjects(conn);
  await accepted(conn, submissionOf(project));
  const replicas: ClusterMember[] = [];
  for (const server of cluster.servers)
    if (String(await server.call('info', 'replication')).includes(`master_port:${from.port}\r\n`))
      replicas.push(server);
  for (const replica of replicas) replica.freeze();
  expect(await submit(conn, submissionOf(project))).toMatchObject({ outcome: 'unavailable' });
  await begin();
  await end();
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
