/** Records of a run store whose replicas do not confirm writes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { openRecordedProject } from '../../support/runStore/recorderHarness.ts';
import { accepted, claimedOne, submissionOf, succeededNode } from '../../support/runStore/runStore.ts';
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/runStore/sentinel.ts';

const SOON = { timeout: 40_000, interval: 25 };

const log = createCollectedLog();
let server: ApiServer;
let kube: KubeClient;
let redis: ReplicatedRedis;
let conn: RunStoreConnection;
beforeAll(async () => {
  server = await sharedApiServer();
  kube = createClient(server.connection);
  redis = await startReplicatedRedis(1);
  conn = connectRunStore({ url: redis.url(1), name: 'test', log });
  await conn.ready();
}, 600_000);
afterAll(async () => {
  await conn.close();
  await redis.stop();
  await kube.close();
  await server.stop();
});

test('the end of a run is recorded once replicas have it, and the progress of others at once', async () => {
  const own = await openRecordedProject({ kube, recording: kube, store: { conn } });
  const run = await accepted(conn, submissionOf(own.project));
  const ref = await claimedOne(conn, own.project);
  const other = await accepted(conn, submissionOf(own.project));
  const otherRef = await claimedOne(conn, own.project);
  own.startRecorder();
  const phase = async () => {
    const object = await kube.find(workflowRuns, { namespace: own.project, name: run });
    return object?.status?.phase;
  };
  await expect.poll(phase, SOON).toBe('Running');

  redis.servers[1]?.freeze();
  await advance(conn, ref, { end: { phase: 'Succeeded' } });
  const unconfirmed = 'run store: replicas do not confirm writes';
  await expect.poll(() => log.messages('warn'), SOON).toContain(unconfirmed);
  expect(await phase()).toBe('Running');
  await advance(conn, otherRef, { checkpoints: [succeededNode('a')] });
  const nodes = async () => {
    const object = await kube.find(workflowRuns, { namespace: own.project, name: other });
    return object?.status?.nodes?.map(({ id }) => id);
  };
  await expect.poll(nodes, SOON).toEqual(['a']);
  expect(await phase()).toBe('Running');

  redis.servers[1]?.thaw();
  await expect.poll(phase, SOON).toBe('Succeeded');
  await own.end();
});
