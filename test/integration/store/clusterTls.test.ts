/** A Redis Cluster that speaks TLS: with programs, and among its servers. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { slotOf } from '../../../store/clusterSlots.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { makeCertificates } from '../../support/cluster/certificates.ts';
import { mountSecret, type MountedSecret } from '../../support/cluster/mountedSecret.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { startCluster, type TestCluster } from '../../support/runStore/cluster.ts';
import { accepted, newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000, everyMs: 20 };

let own: MountedSecret;
let foreign: MountedSecret;
let cluster: TestCluster;
const open: RunStoreConnection[] = [];
beforeAll(async () => {
  const files = await makeCertificates(['own', 'foreign'], ['127.0.0.1']);
  own = await mountSecret(files.own);
  foreign = await mountSecret({ 'ca.crt': files.foreign['ca.crt'] });
  cluster = await startCluster({ tlsFiles: own.path });
});
afterEach(() => Promise.all(open.splice(0).map((conn) => conn.close())));
afterAll(async () => {
  await cluster?.stop();
  for (const folder of [own, foreign]) folder?.remove();
});

function connectWith({ path }: MountedSecret) {
  const log = createCollectedLog();
  const conn = connectRunStore({ url: cluster.url(1), name: 'test', caFile: join(path, 'ca.crt'), log });
  open.push(conn);
  return { conn, log };
}

test('events are accepted with the confirmation of a replica, also after a failover', async () => {
  const { conn } = connectWith(own);
  await conn.ready(AbortSignal.timeout(10_000));
  const project = await newProject(conn);
  const run = await accepted(conn, submissionOf(project));
  const slot = slotOf(keysOf(project).meta);
  const primary = await cluster.primaryOf(slot);
  const former = `127.0.0.1:${primary.tlsPort}`;
  expect(conn.primaryOf(project)).toBe(former);
  await primary.kill();
  const isPromoted = async () => (await cluster.primaryOf(slot)) !== primary;
  await pollUntil('a promoted replica', isPromoted, SOON);
  await primary.restart();
  await cluster.settled(1);
  await pollUntil('the new primary', () => conn.primaryOf(project) !== former, SOON);
  await accepted(conn, submissionOf(project));
  expect(await readRun(conn, project, run)).toMatchObject({ run });
});

test('servers with a certificate of another authority are not used, and the log says so', async () => {
  const { conn, log } = connectWith(foreign);
  const refused = ['run store: refused its certificate; see docs/security.md#tls'];
  await expect.poll(() => log.messages('error'), { timeout: 10_000 }).toEqual(refused);
  expect(await submit(conn, submissionOf('project-1'))).toMatchObject({
    outcome: 'unavailable',
    why: 'connection',
  });
});
