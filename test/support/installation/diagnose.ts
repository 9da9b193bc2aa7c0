/** Says why the pods of a namespace do not become ready, in a few lines for a person. */
import { getJson, kubectl, readPath, type ClusterAccess } from '../cluster/kubectl.ts';

type ContainerState = {
  waiting?: { reason?: string; message?: string };
  terminated?: { reason?: string; exitCode: number };
};
type ContainerStatus = { name: string; ready: boolean; restartCount: number; state: ContainerState };
type Pod = {
  metadata: { name: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string; message?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
};

const lastLines = 8;

/** The pods that are not ready, each with its containers' states and the last lines of their logs. */
export async function describePods(cluster: ClusterAccess, namespace: string): Promise<string> {
  const { items } = await getJson<{ items: Pod[] }>(cluster, 'pods', '-n', namespace);
  if (items.length === 0) return `namespace ${namespace} has no pods`;
  const troubled = items.filter((pod) => !isReady(pod));
  if (troubled.length === 0) return `all ${items.length} pods of namespace ${namespace} are ready`;
  const parts = await Promise.all(troubled.map((pod) => describePod(cluster, namespace, pod)));
  return parts.join('\n');
}

/** How far the pods of the namespaces are, in one line. */
export async function countPods(cluster: ClusterAccess, namespaces: string[]): Promise<string> {
  const lists = namespaces.map((name) =>
    readPath<{ items: Pod[] }>(cluster, `/api/v1/namespaces/${name}/pods`),
  );
  const pods = (await Promise.all(lists)).flatMap(({ items }) => items);
  const waiting = pods.filter((pod) => !isReady(pod)).map((pod) => pod.metadata.name);
  const names = waiting.length > 0 ? `, not yet ${waiting.join(', ')}` : '';
  return `${pods.length - waiting.length} of ${pods.length} pods are ready${names}`;
}

function isReady(pod: Pod): boolean {
  const ready = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready === true || pod.status.phase === 'Succeeded';
}

async function describePod(cluster: ClusterAccess, namespace: string, pod: Pod): Promise<string> {
  const { name } = pod.metadata;
  const scheduling = pod.status.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status !== 'True',
  );
  const states = [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])];
  const troubled = states.filter((state) => !state.ready && state.state.terminated?.exitCode !== 0);
  const lines = [
    `pod ${name}: ${pod.status.phase}${scheduling ? `, ${scheduling.message ?? 'not scheduled'}` : ''}`,
  ];
  for (const container of troubled) {
    lines.push(`  ${container.name}: ${stateText(container)}`);
    lines.push(...(await logLines(cluster, namespace, name, container)));
  }
  return lines.join('\n');
}

function stateText({ state, restartCount }: ContainerStatus): string {
  const { waiting, terminated } = state;
  const restarts = restartCount > 0 ? `, started ${restartCount + 1} times` : '';
  if (waiting)
    return `${waiting.reason ?? 'waiting'}${waiting.message ? `: ${waiting.message}` : ''}${restarts}`;
  if (terminated)
    return `ended with status ${terminated.exitCode} (${terminated.reason ?? 'no reason'})${restarts}`;
  return `runs and is not ready${restarts}`;
}

/** The log of the container, or of its last life if it has no other. A container that never ran has none. */
async function logLines(
  cluster: ClusterAccess,
  namespace: string,
  pod: string,
  { name, restartCount }: ContainerStatus,
): Promise<string[]> {
  const args = ['logs', '-n', namespace, pod, '-c', name, `--tail=${lastLines}`];
  const previous = restartCount > 0 ? [kubectl(cluster, [...args, '--previous'])] : [];
  const logs = await Promise.allSettled([kubectl(cluster, args), ...previous]);
  const text =
    logs.flatMap((log) => (log.status === 'fulfilled' ? log.value.trim() : [])).find(Boolean) ?? '';
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => `    ${line}`);
}
