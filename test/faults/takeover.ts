/**
 * How long nobody leads after the operator's leader has gone: until the Lease is taken again and a change of
 * a workflow is seen.
 */
import { randomBytes } from 'node:crypto';
import { kubeconfigConnection, type KubeConnection } from '../../kube/config.ts';
import { windlassNamespace } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import { processesOf } from '../support/process/processes.ts';
import { askObject } from './api.ts';
import type { Harness } from './harness.ts';
import type { FaultHarness } from './inject.ts';

/** Seconds count from the leader's end. */
export type Takeover = { from: string; to: string; leaseSeconds: number; reconcileSeconds: number };

type Lease = { spec: { holderIdentity?: string; acquireTime?: string } };
type Pod = {
  metadata: { name: string; uid: string };
  status: { containerStatuses: { ready: boolean; restartCount: number }[] };
};
type Workflow = { metadata: { generation: number }; status?: { observedGeneration?: number } };

/** How the leader goes, and within how many seconds another must have taken over. */
export const TAKEOVERS = [
  ['crash', 20],
  ['SIGTERM', 3],
] as const;

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${windlassNamespace}/leases/windlass-operator`;
const TIMEOUT_MS = 60_000;

/** Each way so many times, one after the other; tells each. */
export async function takeOverOften(
  harness: Harness,
  times: number,
  tell: (line: string) => void,
): Promise<TakeoverSeries[]> {
  const series: TakeoverSeries[] = TAKEOVERS.map(([how, most]) => ({ how, most, takeovers: [] }));
  for (let round = 0; round < times; round += 1) {
    for (const { how, most, takeovers } of series) {
      const taken = await takeOver(harness, how);
      takeovers.push(taken);
      const [lease, change] = [taken.leaseSeconds.toFixed(1), taken.reconcileSeconds.toFixed(1)];
      const told = `lease after ${lease} s, a change is seen after ${change} s (at most ${most} s)`;
      tell(`${how}: from ${taken.from} to ${taken.to}: ${told}`);
    }
  }
  return series;
}

/** `most`: within how many seconds the lease is taken and a change is seen. */
export type TakeoverSeries = { how: 'crash' | 'SIGTERM'; most: number; takeovers: Takeover[] };

/** Whether all of them were in time. */
export const isInTime = ({ most, takeovers }: TakeoverSeries): boolean =>
  takeovers.every(({ leaseSeconds, reconcileSeconds }) => Math.max(leaseSeconds, reconcileSeconds) <= most);

/** One row for each way, one column for each of the two ends. */
export function takeoverRows(series: readonly TakeoverSeries[]): string[] {
  const seconds = (values: number[]) =>
    values
      .toSorted((a, b) => a - b)
      .map((value) => value.toFixed(1))
      .join(', ');
  return [
    'Seconds from the end of the leader until the Lease is taken again, and until a change of a workflow is seen.',
    '',
    '| how it ends | times | lease | change seen | promised |',
    '| --- | --- | --- | --- | --- |',
    ...series.map(({ how, most, takeovers }) => {
      const lease = seconds(takeovers.map(({ leaseSeconds }) => leaseSeconds));
      const change = seconds(takeovers.map(({ reconcileSeconds }) => reconcileSeconds));
      return `| ${how} | ${takeovers.length} | ${lease} | ${change} | <= ${most} s |`;
    }),
  ];
}

/**
 * Takes the leader away and measures from that moment. A crash is one after which nothing of it answers or
 * ends: it is stopped, and killed when it is over, since a container that was killed would be back, and lead
 * again, before anybody noticed.
 */
export async function takeOver(harness: Harness, how: 'crash' | 'SIGTERM'): Promise<Takeover> {
  const connection = await kubeconfigConnection(harness.cluster.kubeconfigPath);
  const before = await pollUntil('a leader', () => ownedLease(connection), { timeoutMs: TIMEOUT_MS });
  const from = before.spec.holderIdentity ?? '';
  const pod = await podOf(connection, from);
  const pid = await processOf(harness, pod);
  process.kill(pid, how === 'crash' ? 'SIGSTOP' : 'SIGTERM');
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  try {
    await changeWorkflow(connection, harness);
    const options = { timeoutMs: TIMEOUT_MS, everyMs: 50 };
    const taken = async () => {
      const lease = await ownedLease(connection);
      return lease && lease.spec.acquireTime !== before.spec.acquireTime && lease;
    };
    const after = await pollUntil('a new leader', taken, options);
    const leaseSeconds = seconds();
    await pollUntil('the change being seen', () => isSeen(connection, harness), options);
    return { from, to: after.spec.holderIdentity ?? '', leaseSeconds, reconcileSeconds: seconds() };
  } finally {
    if (how === 'crash') process.kill(pid, 'SIGKILL');
    await pollUntil('its return', () => isBack(connection, pod), { timeoutMs: TIMEOUT_MS, everyMs: 250 });
  }
}

async function ownedLease(connection: KubeConnection): Promise<Lease | undefined> {
  const lease = await askObject<Lease>(connection, LEASE);
  return lease.spec.holderIdentity ? lease : undefined;
}

const podOf = (connection: KubeConnection, name: string): Promise<Pod> =>
  askObject<Pod>(connection, `/api/v1/namespaces/${windlassNamespace}/pods/${name}`);

/** The process of the operator that leads now. Throws while none does. */
export async function leaderProcess(
  connection: KubeConnection,
  harness: Pick<FaultHarness, 'cluster'>,
): Promise<number> {
  const lease = await ownedLease(connection);
  return processOf(harness, await podOf(connection, lease?.spec.holderIdentity ?? 'nobody'));
}

async function processOf({ cluster }: Pick<FaultHarness, 'cluster'>, { metadata }: Pod): Promise<number> {
  const processes = await processesOf(cluster.name, 'operator');
  const found = processes.find(({ podUid }) => podUid === metadata.uid);
  if (!found) throw new Error(`no process of pod ${metadata.name} runs on this machine`);
  return found.pid;
}

/** Ended and started again, and ready to take over again. */
async function isBack(connection: KubeConnection, before: Pod): Promise<boolean> {
  const now = await podOf(connection, before.metadata.name);
  const restarts = (pod: Pod) => pod.status.containerStatuses[0]?.restartCount ?? 0;
  return now.status.containerStatuses[0]?.ready === true && restarts(now) > restarts(before);
}

const workflowPath = ({ project }: Harness): string =>
  `/apis/windlass.dev/v1alpha1/namespaces/${project}/workflows/reply`;

async function changeWorkflow(connection: KubeConnection, harness: Harness): Promise<void> {
  const spec = { displayName: `changed ${randomBytes(4).toString('hex')}` };
  await askObject(connection, workflowPath(harness), { spec });
}

async function isSeen(connection: KubeConnection, harness: Harness): Promise<boolean> {
  const { metadata, status } = await askObject<Workflow>(connection, workflowPath(harness));
  return status?.observedGeneration === metadata.generation;
}
