/** Does a fault to the cluster, keeps it up for its time, and mends what nobody else would mend. */
import { setTimeout as delay } from 'node:timers/promises';
import { network } from '../cluster/builtin/layout.ts';
import { startAgain } from '../cluster/builtin/start-again.ts';
import { windlassNamespace } from '../support/installation/install.ts';
import { getJson, kubectl, type ClusterAccess } from '../support/cluster/kubectl.ts';
import { cutNetwork, slowNetwork } from '../support/network/nodeNetwork.ts';
import { PROGRAMS, processesOf, type FoundProcess, type Program } from '../support/process/processes.ts';
import type { Client, PlannedFault, PodProgram } from './plan.ts';

export type FaultHarness = { cluster: ClusterAccess & { name: string }; project: string };

type Pod = { metadata: { name: string }; status: { podIP?: string; phase?: string } };

const REDIS_PORT = 6379;
/** So little that commands pile up, and so much that some get through. */
const SLOW_KILOBITS = 256;

/** Resolves when the fault is over, with what was hit. `onBegin` is called when it has begun. */
export async function inject(
  harness: FaultHarness,
  { kind, seconds, pick }: PlannedFault,
  onBegin: (target: string) => void,
): Promise<void> {
  const [action = '', ...rest] = kind.split('-');
  const named = PROGRAMS.find((program) => program === rest.join('-'));
  if (action === 'kill' && named) return kill(harness, named, { seconds, pick, onBegin });
  if (action === 'freeze' && named) return freeze(harness, named, { seconds, pick, onBegin });
  if (action === 'delete') return remove(harness, rest[0] as PodProgram, pick, onBegin);
  if (action === 'slow') return slow(harness, seconds, onBegin);
  const halfOpen = action === 'half';
  const client = (halfOpen ? rest[1] : rest[0]) as Client;
  const ways = halfOpen ? 'answers' : 'both';
  return cut(harness, { client, server: rest.at(-1) ?? '', ways, seconds, pick, onBegin });
}

type Hit = { seconds: number; pick: number; onBegin: (target: string) => void };

/** Pods are started again by the kubelet, parts of the cluster by nobody but us. */
async function kill(harness: FaultHarness, program: Program, { seconds, pick, onBegin }: Hit): Promise<void> {
  const { pid } = choose(await found(harness, program), pick, program);
  process.kill(pid, 'SIGKILL');
  onBegin(`${program} ${pid}`);
  if (program !== 'kube-apiserver' && program !== 'etcd') return;
  await delay(seconds * 1_000);
  const start = () => startAgain(harness.cluster.name, program);
  // On a machine with much else to do it may take longer than one start is waited for.
  await start().catch(start);
}

async function freeze(
  harness: FaultHarness,
  program: Program,
  { seconds, pick, onBegin }: Hit,
): Promise<void> {
  const { pid } = choose(await found(harness, program), pick, program);
  process.kill(pid, 'SIGSTOP');
  onBegin(`${program} ${pid}`);
  await delay(seconds * 1_000);
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It was killed meanwhile, since it did not answer its probes: then another runs.
  }
}

async function remove(
  harness: FaultHarness,
  program: PodProgram,
  pick: number,
  onBegin: (target: string) => void,
): Promise<void> {
  const { namespace, name } = choose(await podsOf(harness, program), pick, program);
  await kubectl(harness.cluster, ['delete', 'pod', '-n', namespace, name, '--wait=false']);
  onBegin(name);
}

type CutOff = Hit & { client: Client; server: string; ways: 'both' | 'answers' };

async function cut(harness: FaultHarness, { client, server, ways, seconds, pick, onBegin }: CutOff) {
  const { name, address } = choose(await podsOf(harness, client), pick, client);
  const other =
    server === 'redis'
      ? { to: choose(await podsOf(harness, 'redis'), 0, 'redis').address, port: REDIS_PORT }
      : { to: network.nodeAddress, port: network.apiPort };
  const mend = await cutNetwork(harness.cluster.name, { from: address, ...other, ways });
  try {
    onBegin(`${name} from ${server}`);
    await delay(seconds * 1_000);
  } finally {
    await mend();
  }
}

async function slow(
  harness: FaultHarness,
  seconds: number,
  onBegin: (target: string) => void,
): Promise<void> {
  const { name, address } = choose(await podsOf(harness, 'redis'), 0, 'redis');
  const mend = await slowNetwork(harness.cluster.name, address, SLOW_KILOBITS);
  try {
    onBegin(name);
    await delay(seconds * 1_000);
  } finally {
    await mend();
  }
}

const found = (harness: FaultHarness, program: Program): Promise<FoundProcess[]> =>
  processesOf(harness.cluster.name, program, harness.project);

function choose<T>(candidates: readonly T[], pick: number, what: string): T {
  const chosen = candidates[Math.min(candidates.length - 1, Math.floor(pick * candidates.length))];
  if (chosen === undefined) throw new Error(`no ${what} runs, so none can be hit`);
  return chosen;
}

/** The pods of that program that run. */
async function podsOf(
  { cluster, project }: FaultHarness,
  program: PodProgram,
): Promise<{ namespace: string; name: string; address: string }[]> {
  const namespace = program === 'runner' ? project : windlassNamespace;
  const label =
    program === 'runner'
      ? 'app.kubernetes.io/name=windlass-runner'
      : `app.kubernetes.io/name=windlass,app.kubernetes.io/component=${program}`;
  const { items } = await getJson<{ items: (Pod & { metadata: { deletionTimestamp?: string } })[] }>(
    cluster,
    'pods',
    '-n',
    namespace,
    '-l',
    label,
  );
  return items
    .filter(({ metadata, status }) => status.podIP && metadata.deletionTimestamp === undefined)
    .map(({ metadata, status }) => ({ namespace, name: metadata.name, address: status.podIP ?? '' }));
}
