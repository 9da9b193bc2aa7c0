/** Two operators as processes: how soon one takes over from the other, and that never both of them act. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leases } from '../../../kube/resource.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import {
  startKubeApiFaults,
  type KubeApiFaults,
  type SeenRequest,
} from '../../support/cluster/kubeApiFaults.ts';
import { startOperatorProcess } from '../../support/operator/operatorProgram.ts';
import type { Program } from '../../support/process/program.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedisProxy, type RedisProxy } from '../../support/runStore/redisProxy.ts';
import { writeKubeconfig } from '../../support/cluster/users.ts';

const WITHIN = { timeoutMs: 60_000, everyMs: 20 };
const CROWD = 40;
/** Commands that change nothing. Pings of the connection for messages are sent whoever leads. */
const HARMLESS = new Set(['hello', 'auth', 'client', 'ping']);

type Replica = {
  name: string;
  process: Program;
  kube: KubeApiFaults;
  redis: RedisProxy;
  sent: string[];
};

let harness: OperatorHarness;
let namespace: string;
const replicas: Replica[] = [];

beforeAll(async () => {
  harness = await startOperatorHarness({ bounded: false });
  ({ namespace } = await harness.createProject());
}, 600_000);

afterAll(async () => {
  await Promise.all(replicas.map(({ process }) => process.stop('SIGKILL')));
  await Promise.all(replicas.flatMap(({ kube, redis }) => [kube.stop(), redis.stop()]));
  await harness?.stop();
});

/** A replica with proxies of its own, so that what it sends can be told from what others send. */
async function startReplica(name: string): Promise<Replica> {
  const kube = await startKubeApiFaults({ ...harness.server.connection, auth: {} });
  const sent: string[] = [];
  const redis = await startRedisProxy(harness.redis.port, ([command = '']) => {
    if (!HARMLESS.has(command.toLowerCase())) sent.push(command);
    return true;
  });
  const token = (await harness.connection.auth.token?.()) ?? '';
  const kubeconfigPath = await writeKubeconfig(
    { ...harness.server, url: kube.connection.server },
    name,
    token,
  );
  const place = { kubeconfigPath, redisURL: redis.url, pod: name, namespace: SYSTEM };
  const replica = { name, process: startOperatorProcess(place), kube, redis, sent };
  replicas.push(replica);
  const isUp = () => replica.process.log.some((line) => line.includes('run store: connected'));
  await pollUntil(`${name} being up`, isUp, WITHIN);
  return replica;
}

const isWrite = ({ method, path }: SeenRequest): boolean => method !== 'GET' && !path.includes('/leases');
/** When the replica wrote to the API server, its own Lease left out. */
const writesOf = ({ kube }: Replica): number[] => kube.seen.filter(isWrite).map(({ at }) => at);

const holder = async () =>
  (await harness.client.find(leases, { namespace: SYSTEM, name: 'windlass-operator' }))?.spec?.holderIdentity;
const leads = (replica: Replica) =>
  pollUntil(`${replica.name} leading`, async () => (await holder()) === replica.name, WITHIN);

const put = (name: string, displayName: string) =>
  harness.client.apply(workflows, {
    metadata: { namespace, name },
    spec: { displayName, active: true, nodes: [{ id: 'trigger', webhook: { path: name } }] },
  });

/** Changes a workflow and waits until somebody has seen to it. */
async function change(displayName: string): Promise<void> {
  await put('watched', displayName);
  await harness.waitFor(namespace, 'watched', { type: 'Ready', status: 'True', reason: 'Serving' }, 60_000);
}

const names = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);

async function served(): Promise<number> {
  const { items } = await harness.client.listAll(workflows, { namespace });
  return items.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'Routed')).length;
}

test('a leader that stands still is followed within 20 s, and writes nothing when it goes on', async () => {
  const first = await startReplica('operator-a');
  await leads(first);
  const second = await startReplica('operator-b');
  await change('before');
  // In the midst of work, with answers on their way and requests that wait for a connection.
  await Promise.all(names.map((name) => put(name, 'before')));
  await pollUntil('some of the work being done', async () => (await served()) > CROWD / 4, WITHIN);
  first.process.signal('SIGSTOP');
  const stoppedAt = performance.now();
  await leads(second);
  const tookMs = performance.now() - stoppedAt;
  await change('while it stands still');
  const before = { kube: writesOf(first), redis: first.sent.length };
  first.process.signal('SIGCONT');
  expect(await first.process.ended).toBe(1);
  expect(writesOf(first).length - before.kube.length).toBe(0);
  expect(first.sent.slice(before.redis)).toEqual([]);
  expect(Math.max(...before.kube)).toBeLessThan(Math.min(...writesOf(second)));
  for (const name of names)
    await harness.waitFor(namespace, name, { type: 'Ready', status: 'True', reason: 'Serving' }, 60_000);
  // The lease of 15 s and two checks of at most 2.4 s are 19.8 s; the rest is for the machine.
  expect(tookMs).toBeLessThan(30_000);
}, 120_000);

const ofLease = ({ kube }: Replica, verb: string): SeenRequest[] =>
  kube.seen.filter(({ method, path }) => method === verb && path.endsWith('/leases/windlass-operator'));

test('a leader that is told to end releases the lease, and has written its last before another leads at its next check', async () => {
  const leader = replicas[1] as Replica;
  const next = await startReplica('operator-c');
  await pollUntil('it wanting to lead', () => ofLease(next, 'GET').length > 0, WITHIN);
  leader.process.signal('SIGTERM');
  await leads(next);
  const { at: releasedAt } = ofLease(leader, 'PUT').at(-1) as SeenRequest;
  // One of them may have come in the same moment. Until the lease ran out there would be six.
  expect(ofLease(next, 'GET').filter(({ at }) => at > releasedAt).length).toBeLessThanOrEqual(2);
  await change('after the end');
  expect(await leader.process.ended).toBe(0);
  expect(Math.max(...writesOf(leader))).toBeLessThan(Math.min(...writesOf(next)));
}, 60_000);
