/** What happens to nodes under load: one function for each scene. */
import { setTimeout as delay } from 'node:timers/promises';
import { killNode } from '../../cluster/builtin/node.ts';
import type { NodeLayout } from '../../cluster/builtin/layout.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { windlassNamespace } from '../../support/installation/install.ts';
import { processesOf } from '../../support/process/processes.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { loadBack } from '../recovery.ts';
import { cutApiServer, cutRunStore } from './cuts.ts';
import { drainBoth, drainOne } from './drains.ts';
import { cordon, placedPods, readinessOf, replacedElsewhere } from './pods.ts';
import {
  beginScene,
  declaredLost,
  endScene,
  measure,
  mend,
  NOTICED_WITHIN_MS,
  timed,
  underwayEnded,
  type SceneContext,
} from './context.ts';

/** Longer than the 20 s after which another runner takes over. */
const OVERTAKEN_MS = 30_000;
/** As well, and shorter than the kubelet waits for an answer to its probes. */
const FROZEN_MS = 23_000;
/** For what a runner that nobody counts on any more still does when it reaches the run store again. */
const RETURN_MS = 5_000;
const REDIS = { namespace: windlassNamespace, pod: 'windlass-redis-0' };
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** The share of the rate that is accepted at the first attempt when nothing is in the way any more. */
const FULL_LOAD = 0.95;

/** All processes of a node end at once, kubelet and containers, and so does its network. */
async function loss(context: SceneContext): Promise<void> {
  const [lost] = context.workers;
  const fault = await beginScene(context, 'node loss', lost.name);
  const ended = underwayEnded(context);
  await killNode(lost);
  await Promise.all([
    timed(context, fault, 'runs that were under way have ended after', ended),
    timed(context, fault, 'Kubernetes declares the node lost after', declaredLost(context, lost.name)),
    timed(context, fault, 'gateway, operator and runner are replaced after', replaced(context, lost)),
    timed(
      context,
      fault,
      'all events are accepted at the first attempt again after',
      fullLoad(context, lost),
    ),
  ]);
  await mend(context);
  await endScene(context, fault);
}

/**
 * The API server and the kubelet of a node hear nothing of each other: its pods run on, and are replaced.
 * Then they lose the run store, too, while the systems outside stay in reach; then they find it again; then
 * the kubelet is told that its pods are deleted.
 */
async function partition(context: SceneContext): Promise<void> {
  const { load } = context;
  const [cut] = context.workers;
  const fault = await beginScene(context, 'partition', cut.name);
  const mendApiServer = await cutApiServer(cut);
  try {
    await Promise.all([
      timed(context, fault, 'Kubernetes declares the node lost after', declaredLost(context, cut.name)),
      timed(context, fault, 'gateway, operator and runner are replaced after', replaced(context, cut)),
    ]);
    measure(
      load,
      fault.kind,
      'runners that execute runs then, of two that Kubernetes counts',
      await runners(context),
    );
    const mendRunStore = await cutRunStore(cut);
    const ended = underwayEnded(context);
    try {
      const cutAt = Date.now();
      await Promise.all([ended, delay(OVERTAKEN_MS)]);
      const after = ((Date.now() - cutAt) / 1_000).toFixed(1);
      measure(
        load,
        fault.kind,
        'run store cut off, too: runs that were under way have ended within',
        `${after} s`,
      );
    } finally {
      await mendRunStore();
    }
    await delay(RETURN_MS);
  } finally {
    await mendApiServer();
  }
  await formerGone(context, cut);
  await endScene(context, fault);
}

/**
 * A node that is cut off is deleted, as a cloud does, so that its pods are, too, while they run: their
 * replacements work beside them. The former runner stands still until its runs are taken over, and goes on.
 */
async function twin(context: SceneContext): Promise<void> {
  const { load, cluster } = context;
  const cut = context.workers[1];
  const fault = await beginScene(context, 'deleted node', cut.name);
  const former = await processOn(context, cut);
  const mendApiServer = await cutApiServer(cut);
  try {
    await kubectl(cluster, ['delete', 'node', cut.name]);
    await timed(context, fault, 'gateway, operator and runner are replaced after', replaced(context, cut));
    measure(
      load,
      fault.kind,
      'runners that execute runs then, of two that Kubernetes counts',
      await runners(context),
    );
    const ended = underwayEnded(context);
    process.kill(former, 'SIGSTOP');
    const stopped = Date.now();
    await delay(FROZEN_MS);
    goOn(former);
    await ended;
    const after = ((Date.now() - stopped) / 1_000).toFixed(1);
    measure(
      load,
      fault.kind,
      'former runner stands still for 23 s: runs that were under way have ended within',
      `${after} s`,
    );
    await delay(RETURN_MS);
  } finally {
    await mendApiServer();
  }
  // A kubelet registers its node when it starts.
  await cluster.stopPart?.(`node-${cut.number}/kubelet`);
  await cluster.startPart?.(`node-${cut.number}/kubelet`);
  await formerGone(context, cut);
  await endScene(context, fault);
}

/**
 * The node of the run store is lost. Kubernetes replaces no pod of a StatefulSet while it cannot know that it
 * has ended: an administrator confirms that the node is gone.
 */
async function store(context: SceneContext): Promise<void> {
  const { load, cluster, first, workers } = context;
  const [lost] = workers;
  const moved = await beginScene(context, 'move of the run store', lost.name);
  await moveRedis(context, lost.name);
  await timed(context, moved, 'the run store answers on another node after', answers(context));
  await endScene(context, moved);

  const fault = await beginScene(context, 'loss of the node of the run store', lost.name);
  await killNode(lost);
  await timed(context, fault, 'Kubernetes declares the node lost after', declaredLost(context, lost.name));
  const confirmed = Date.now();
  await kubectl(cluster, ['taint', 'node', lost.name, `${OUT_OF_SERVICE}=nodeshutdown:NoExecute`]);
  await answers(context);
  const after = ((Date.now() - confirmed) / 1_000).toFixed(1);
  measure(
    load,
    fault.kind,
    'the run store answers on another node, after the taint out-of-service',
    `${after} s`,
  );
  await timed(context, fault, 'gateway, operator and runner are replaced after', replaced(context, lost));
  await mend(context);
  await kubectl(cluster, ['taint', 'node', lost.name, `${OUT_OF_SERVICE}-`]);
  await endScene(context, fault);

  await moveRedis(context, first);
  await answers(context);
}

async function drain(context: SceneContext): Promise<void> {
  await drainOne(context);
  await drainBoth(context);
}

/** In the order in which they are played; the seconds that each takes are most of what Kubernetes waits. */
export const SCENES = { loss, drain, partition, twin, store } as const;
export type SceneName = keyof typeof SCENES;

const replaced = ({ cluster, load }: SceneContext, lost: NodeLayout) =>
  replacedElsewhere(cluster, load.harness.project, [lost.name]);

/** Until the node is declared lost, its gateway still gets its share of the connections. */
async function fullLoad(context: SceneContext, lost: NodeLayout): Promise<void> {
  await declaredLost(context, lost.name);
  const { sender, pulse, rate } = context.load;
  await loadBack({ sender, pulse }, rate * FULL_LOAD, NOTICED_WITHIN_MS);
}

/** How many processes of runners of the project there are. */
async function runners({ cluster, load }: SceneContext): Promise<string> {
  return String((await processesOf(cluster.name, 'runner', load.harness.project)).length);
}

/** The process of the runner on that node. */
async function processOn({ cluster, load }: SceneContext, node: NodeLayout): Promise<number> {
  const { project } = load.harness;
  const pods = await placedPods(cluster, project);
  const pod = pods.find((each) => each.program === 'runner' && each.node === node.name && !each.ending);
  const found = (await processesOf(cluster.name, 'runner', project)).find(
    ({ podUid }) => podUid === pod?.uid,
  );
  if (!found) throw new Error(`no runner runs on ${node.name}`);
  return found.pid;
}

/** A process that did not answer its probes for too long was killed, and another runs in its place. */
function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Two runners and no more run, and the node is ready: its kubelet has ended the pods that were replaced. */
async function formerGone(context: SceneContext, node: NodeLayout): Promise<void> {
  const isOver = async () =>
    (await runners(context)) === '2' &&
    (await readinessOf(context.cluster, node.name).catch(() => undefined)) === 'True';
  await pollUntil('the end of the pods that were replaced', isOver, { timeoutMs: NOTICED_WITHIN_MS });
}

/** Its volume goes with it. */
async function moveRedis({ cluster, first, workers }: SceneContext, target: string): Promise<void> {
  const nodes = [first, ...workers.map(({ name }) => name)];
  for (const node of nodes) await cordon(cluster, node, node !== target);
  await kubectl(cluster, ['delete', 'pod', '-n', REDIS.namespace, REDIS.pod, '--wait'], {
    timeoutMs: 120_000,
  });
  const args = ['rollout', 'status', '-n', REDIS.namespace, 'statefulset/windlass-redis', '--timeout=120s'];
  await kubectl(cluster, args, { timeoutMs: 130_000 });
  for (const node of nodes) await cordon(cluster, node, node === first);
}

const answers = ({ load }: SceneContext): Promise<unknown> =>
  pollUntil('an answer of the run store', () => load.harness.store.totals(), {
    timeoutMs: NOTICED_WITHIN_MS,
    everyMs: 50,
  });
