/**
 * The pods of Windlass on the nodes of a cluster: where they run, and how they come to be where scenes need
 * them.
 */
import { windlassNamespace } from '../../support/installation/install.ts';
import { kubectl, readPath, type ClusterAccess } from '../../support/cluster/kubectl.ts';
import { pollUntil } from '../../support/time/poll.ts';

/** The programs that have two pods each. */
export const SPREAD = ['gateway', 'operator', 'runner'] as const;
export type Spread = (typeof SPREAD)[number];

export type PlacedPod = {
  program: string;
  namespace: string;
  name: string;
  uid: string;
  node: string;
  ready: boolean;
  /** Whether it is being deleted. */
  ending: boolean;
};

type Listed = {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec: { nodeName?: string };
  status: { conditions?: { type: string; status: string }[] };
};

const MOVED_WITHIN_MS = 120_000;
const POLL = { timeoutMs: MOVED_WITHIN_MS, everyMs: 250 };

/** The pods of Windlass and of the project that have a node, without those of schedules and polls. */
export async function placedPods(cluster: ClusterAccess, project: string): Promise<PlacedPod[]> {
  const lists = await Promise.all(
    [windlassNamespace, project].map((namespace) =>
      readPath<{ items: Listed[] }>(cluster, `/api/v1/namespaces/${namespace}/pods`),
    ),
  );
  return lists
    .flatMap(({ items }) => items)
    .flatMap(({ metadata, spec, status }): PlacedPod[] => {
      const program = programOf(metadata.labels ?? {});
      if (program === undefined || spec.nodeName === undefined) return [];
      const { name, namespace, uid, deletionTimestamp } = metadata;
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      return [
        {
          program,
          namespace,
          name,
          uid,
          node: spec.nodeName,
          ready,
          ending: deletionTimestamp !== undefined,
        },
      ];
    });
}

function programOf(labels: Record<string, string>): string | undefined {
  if (labels['app.kubernetes.io/name'] === 'windlass-runner') return 'runner';
  return labels['app.kubernetes.io/component'];
}

/** The name and namespace of a program's Deployment. */
const deploymentOf = (program: Spread, project: string) => ({
  namespace: program === 'runner' ? project : windlassNamespace,
  name: `windlass-${program}`,
});

/**
 * One ready pod of each program on each of the nodes, and no other. Programs that are placed otherwise are
 * restarted, as often as the scheduler needs: it prefers to spread them, and need not.
 */
export async function spreadPods(
  cluster: ClusterAccess,
  project: string,
  nodes: readonly string[],
): Promise<void> {
  await Promise.all(
    SPREAD.map(async (program) => {
      const isSpread = async () => {
        if (await isSpreadNow(cluster, project, program, nodes)) return true;
        await restart(cluster, deploymentOf(program, project));
        return isSpreadNow(cluster, project, program, nodes);
      };
      await pollUntil(`one ${program} on each of ${nodes.join(', ')}`, isSpread, POLL);
    }),
  );
}

async function isSpreadNow(
  cluster: ClusterAccess,
  project: string,
  program: Spread,
  nodes: readonly string[],
): Promise<boolean> {
  const pods = (await placedPods(cluster, project)).filter((pod) => pod.program === program);
  return (
    pods.length === nodes.length &&
    pods.every(({ ready, ending }) => ready && !ending) &&
    nodes.every((node) => pods.some((pod) => pod.node === node))
  );
}

async function restart(cluster: ClusterAccess, { namespace, name }: ReturnType<typeof deploymentOf>) {
  const rollout = (action: string, ...rest: string[]) =>
    kubectl(cluster, ['rollout', action, '-n', namespace, `deployment/${name}`, ...rest], {
      timeoutMs: 130_000,
    });
  await rollout('restart');
  await rollout('status', '--timeout=120s');
  // The former pods take requests and finish runs for a while.
  const isOver = async () =>
    (await readPath<{ items: Listed[] }>(cluster, `/api/v1/namespaces/${namespace}/pods`)).items.every(
      ({ metadata }) => !metadata.name.startsWith(`${name}-`) || metadata.deletionTimestamp === undefined,
    );
  await pollUntil(`the end of the former pods of ${name}`, isOver, POLL);
}

/** Resolves when every program has two ready pods that are on none of the nodes and are not ending. */
export async function replacedElsewhere(
  cluster: ClusterAccess,
  project: string,
  lost: readonly string[],
): Promise<void> {
  const isReplaced = async () => {
    const pods = (await placedPods(cluster, project)).filter(
      ({ node, ready, ending }) => ready && !ending && !lost.includes(node),
    );
    return SPREAD.every((program) => pods.filter((pod) => pod.program === program).length >= 2);
  };
  await pollUntil('pods in place of the lost ones', isReplaced, { timeoutMs: 420_000, everyMs: 250 });
}

/** The status of the node's condition Ready. */
export async function readinessOf(cluster: ClusterAccess, node: string): Promise<string | undefined> {
  type NodeObject = { status: { conditions: { type: string; status: string }[] } };
  const { status } = await readPath<NodeObject>(cluster, `/api/v1/nodes/${node}`);
  return status.conditions.find(({ type }) => type === 'Ready')?.status;
}

/** Marks a node so that no further pods are placed on it, or may be again. */
export async function cordon(cluster: ClusterAccess, node: string, closed: boolean): Promise<void> {
  await kubectl(cluster, [closed ? 'cordon' : 'uncordon', node]);
}
