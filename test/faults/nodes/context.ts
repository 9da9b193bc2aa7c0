/**
 * What the scenes of nodes share: the cluster with its two nodes for gateway, operator and runners, and the
 * times that are taken after a fault.
 */
import { ensureCluster, type Cluster } from '../../cluster/cluster.ts';
import type { NodeLayout } from '../../cluster/builtin/layout.ts';
import { quiet } from '../../support/process/progress.ts';
import { pollUntil } from '../../support/time/poll.ts';
import type { FaultRecord } from '../evidence.ts';
import type { Harness } from '../harness.ts';
import type { Load } from '../load.ts';
import { steadyLoad, untilRecovered } from '../recovery.ts';
import { isAccepted } from '../sender.ts';
import { nodeOf } from './cuts.ts';
import { cordon, readinessOf, spreadPods } from './pods.ts';

export type SceneContext = {
  load: Load<Harness>;
  cluster: Cluster;
  /** Runs the control plane, the run store, cluster DNS and the sinks. */
  first: string;
  /** Each has one gateway, one operator and one runner when a scene begins. */
  workers: readonly [NodeLayout, NodeLayout];
};

/** Longer than Kubernetes takes to notice a lost node and to replace its pods. */
export const NOTICED_WITHIN_MS = 240_000;
const RECOVERED_WITHIN_MS = 180_000;

export function contextOf(load: Load<Harness>, cluster: Cluster): SceneContext {
  const workers = [nodeOf(cluster.name, 2), nodeOf(cluster.name, 3)] as const;
  return { load, cluster, first: nodeOf(cluster.name, 1).name, workers };
}

/** Everything in its place and the load steady, then the fault begins. */
export async function beginScene(context: SceneContext, kind: string, target: string): Promise<FaultRecord> {
  const { load } = context;
  await setScene(context);
  const loadBefore = await steadyLoad(load.sender, load.pulse, load.rate);
  const at = Date.now();
  const fault = { number: load.faults.length + 1, kind, target, at, endedAt: at, loadBefore };
  load.begin(fault);
  load.tell(`› ${fault.number}. ${kind} (${target})`);
  return fault;
}

/** The fault is over: waits until nothing of it is left, and tells. */
export async function endScene({ load }: SceneContext, fault: FaultRecord): Promise<void> {
  fault.endedAt = Date.now();
  await untilRecovered(fault, load, RECOVERED_WITHIN_MS);
  const { number, kind, firstAcceptedSeconds: first, backlogEndedSeconds: backlog } = fault;
  load.tell(
    `✓ ${number}. ${kind}: accepted again after ${one(first)} s, nothing waits after ${one(backlog)} s`,
  );
  const events = load.sender.events.filter(
    ({ refusal, attempts }) =>
      refusal === undefined && attempts[0] && attempts[0].at >= fault.at && attempts[0].at < fault.endedAt,
  );
  const atOnce = events.filter(({ attempts }) => isAccepted(attempts[0])).length;
  measure(
    load,
    kind,
    'events sent while it lasted, of them accepted at the first attempt',
    `${events.length}, ${atOnce}`,
  );
}

/** One gateway, operator and runner on each of the two nodes; the first node takes no further pods. */
async function setScene({ load, cluster, first, workers }: SceneContext): Promise<void> {
  const names = workers.map(({ name }) => name);
  for (const name of names) {
    await pollUntil(`a ready node ${name}`, async () => (await readinessOf(cluster, name)) === 'True', {
      timeoutMs: NOTICED_WITHIN_MS,
    });
    await cordon(cluster, name, false);
  }
  await cordon(cluster, first, true);
  await spreadPods(cluster, load.harness.project, names);
}

/** Starts what does not run of the cluster, a node that was killed among it. */
export async function mend({ cluster }: SceneContext): Promise<void> {
  await ensureCluster({ name: cluster.name, progress: quiet });
}

/** Notes what was measured of a fault. */
export function measure(
  load: Load<Harness>,
  kind: string,
  what: string,
  seen: string,
  promised?: string,
): void {
  load.measures.push({ what: `${kind}: ${what}`, seen, ...(promised !== undefined && { promised }) });
  load.tell(`  ${what}: ${seen}`);
}

/** Waits for something and notes how many seconds after the fault it came. */
export async function timed(
  { load }: SceneContext,
  { at, kind }: FaultRecord,
  what: string,
  work: Promise<unknown>,
): Promise<void> {
  await work;
  measure(load, kind, what, `${one((Date.now() - at) / 1_000)} s`);
}

/** When Kubernetes has declared the node lost. */
export function declaredLost({ cluster }: SceneContext, node: string): Promise<unknown> {
  const isLost = async () => (await readinessOf(cluster, node)) !== 'True';
  return pollUntil(`the loss of ${node}`, isLost, { timeoutMs: NOTICED_WITHIN_MS, everyMs: 250 });
}

/** When all runs that were under way, as far as the run store tells at the call, have ended. */
export async function underwayEnded({ load }: SceneContext): Promise<void> {
  const { store } = load.harness;
  const before = new Set(await pollUntil('runs under way', () => store.live(), { timeoutMs: 30_000 }));
  const haveEnded = async () => {
    const live = await store.live();
    return live?.every((run) => !before.has(run)) ?? false;
  };
  await pollUntil('the end of the runs that were under way', haveEnded, {
    timeoutMs: NOTICED_WITHIN_MS,
    everyMs: 250,
  });
}

const one = (seconds: number | undefined): string => seconds?.toFixed(1) ?? '?';
