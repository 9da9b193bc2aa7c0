/**
 * An existing Redis Cluster as the run store, as docs/run-store.md describes it; the loss of a primary; and
 * the way back to the server of the chart.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slotOf } from '../../store/clusterSlots.ts';
import { keysOf } from '../../store/keys.ts';
import { upgradeWindlass, waitForReady, windlassNamespace } from '../support/installation/install.ts';
import {
  REDIS_CLUSTER_SECRET,
  removeRedisCluster,
  startRedisCluster,
  type RedisClusterPods,
} from '../support/installation/redisClusterPods.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  apply,
  cluster,
  createProject,
  kube,
  postWebhook,
  removeProject,
  runInPhase,
  workflowOf,
} from './environment.ts';

const WORKFLOW = 'spread';
const SOON = { timeoutMs: 120_000, everyMs: 250 };

let project: string;
let redis: RedisClusterPods;
/** The runs of all events that were answered with 200. */
const acceptedRuns: string[] = [];

const inSystem = (...args: string[]) => kube(['-n', windlassNamespace, ...args], { timeoutMs: 150_000 });

beforeAll(async () => {
  project = await createProject();
  const nodes = [
    { id: 'trigger', webhook: { path: 'in' } },
    { id: 'set', skill: { name: 'set', parameters: { values: { sum: '1 + 1' } } } },
  ];
  await apply(project, workflowOf(WORKFLOW, nodes, { history: { succeeded: 1_000, failed: 1_000 } }));
  await waitForReady(cluster, WORKFLOW, project);
  const path = 'jsonpath={.spec.template.spec.containers[0].image}';
  const image = await inSystem('get', 'statefulset/windlass-redis', '-o', path);
  redis = await startRedisCluster(cluster, image.trim());
}, 300_000);
afterAll(async () => {
  await removeProject(project);
  await removeRedisCluster(cluster);
});

async function sendEvent(): Promise<boolean> {
  const { status, text } = await postWebhook(project, WORKFLOW, 'in', { at: Date.now() });
  if (status !== 200) return false;
  acceptedRuns.push((JSON.parse(text) as { run: string }).run);
  return true;
}

/** Sends ten events. Resolves with the phases of the runs of all events that were ever accepted. */
async function phasesOfAll(): Promise<Set<string | undefined>> {
  for (let sent = 0; sent < 10; sent += 1) await pollUntil('an event being accepted', sendEvent, SOON);
  const runs = await Promise.all(acceptedRuns.map((run) => runInPhase(project, run, 'Succeeded')));
  return new Set(runs.map(({ status }) => status?.phase));
}

test('the runs of a project are executed from a Redis Cluster', async () => {
  expect(redis.pods).toHaveLength(6);
  const { addresses } = redis;
  const values = {
    topology: 'cluster',
    existingSecret: REDIS_CLUSTER_SECRET,
    cluster: { addresses, replicas: 1 },
  };
  await upgradeWindlass(cluster, { redis: values });
  expect(await phasesOfAll()).toEqual(new Set(['Succeeded']));
  // It would come back with what is out of date.
  await inSystem('delete', 'pvc', 'data-windlass-redis-0');
}, 400_000);

test('the primary of the project is lost: its replica takes over, and nothing that was accepted is lost', async () => {
  const { metadata } = await getJson<{ metadata: { uid: string } }>(cluster, 'namespace', project);
  const slot = slotOf(keysOf(metadata.uid).prefix);
  const [asked = '', other = ''] = redis.pods;
  const former = (await redis.primaryOf(slot, asked)) ?? '';
  expect(redis.pods).toContain(former);
  const witness = former === asked ? other : asked;
  for (let sent = 0; sent < 20; sent += 1) await pollUntil('an event being accepted', sendEvent, SOON);
  await redis.lose(former);
  const promoted = async () => {
    const primary = await redis.primaryOf(slot, witness);
    return primary === former ? undefined : primary;
  };
  await redis.rejoin(former, (await pollUntil('a promoted replica', promoted, SOON)) ?? '');
  expect(await phasesOfAll()).toEqual(new Set(['Succeeded']));
}, 400_000);

test('back to the server of the chart: the records are kept, and events are accepted', async () => {
  const values = { topology: 'single', existingSecret: '', cluster: { addresses: [] } };
  await upgradeWindlass(cluster, { redis: values });
  expect(await phasesOfAll()).toEqual(new Set(['Succeeded']));
  expect(acceptedRuns.length).toBeGreaterThanOrEqual(50);
}, 400_000);
