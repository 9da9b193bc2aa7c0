/**
 * The network of a built-in cluster's node, to cut and to slow: packets between a pod and another are dropped
 * inside the node's own network namespace, so that neither side is told and connections stay open, as with a
 * cable that was pulled.
 */
import { readdir, readFile } from 'node:fs/promises';
import { runCommand } from '../process/command.ts';

/** One way only is a connection that is half open: one side is heard, and hears nothing. */
export type Cut = { from: string; to: string; port: number; ways: 'both' | 'answers' };

/** Drops what matches until the function that it returns is called. Addresses are of pods or of the node. */
export async function cutNetwork(cluster: string, cut: Cut): Promise<() => Promise<void>> {
  const there = ['-s', cut.from, '-d', cut.to, '-p', 'tcp', '--dport', String(cut.port), '-j', 'DROP'];
  const back = ['-s', cut.to, '-d', cut.from, '-p', 'tcp', '--sport', String(cut.port), '-j', 'DROP'];
  const rules = cut.ways === 'both' ? [there, back] : [back];
  // Between pods packets are forwarded; to the API server, which is the node itself, they come in and go out.
  const all = rules.flatMap((rule) => ['FORWARD', 'INPUT', 'OUTPUT'].map((chain) => [chain, ...rule]));
  for (const rule of all) await inNode(cluster, ['iptables', '-w', '-I', ...rule]);
  return async () => {
    for (const rule of all) await inNode(cluster, ['iptables', '-w', '-D', ...rule]);
  };
}

/** Lets so many kilobits a second through to a pod, until the function that it returns is called. */
export async function slowNetwork(
  cluster: string,
  address: string,
  kilobits: number,
): Promise<() => Promise<void>> {
  const device = await deviceOf(cluster, address);
  const qdisc = (action: string, ...rest: string[]) =>
    inNode(cluster, ['tc', 'qdisc', action, 'dev', device, 'root', ...rest]);
  await qdisc('add', 'tbf', 'rate', `${kilobits}kbit`, 'burst', '4k', 'latency', '2s');
  return () => qdisc('del');
}

/**
 * The node's end of a pod's cable: the bridge knows behind which of its ports the pod's hardware address is.
 */
async function deviceOf(cluster: string, address: string): Promise<string> {
  const neighbour = await runInNode(cluster, ['ip', 'neigh', 'show', address]);
  const hardware = /lladdr (\S+)/.exec(neighbour)?.[1];
  const ports = await runInNode(cluster, ['bridge', 'fdb', 'show', 'br', 'pods0']);
  const line = ports.split('\n').find((each) => hardware !== undefined && each.startsWith(`${hardware} `));
  const device = /dev (\S+)/.exec(line ?? '')?.[1];
  if (!device) throw new Error(`no device of cluster ${cluster} leads to ${address}`);
  return device;
}

async function inNode(cluster: string, command: string[]): Promise<void> {
  await runInNode(cluster, command);
}

async function runInNode(cluster: string, command: string[]): Promise<string> {
  const first = await firstProcess(cluster);
  return runCommand('nsenter', ['--net', '--target', String(first), ...command]);
}

async function firstProcess(cluster: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const commandLine = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    const [program, role, configuration = ''] = commandLine.split('\0');
    const isOurs = configuration.endsWith(`/clusters/${cluster}/node.json`);
    if (program === 'cluster-node' && role === 'init' && isOurs) return Number(entry);
  }
  throw new Error(`cluster ${cluster} does not run on this machine: its network can be reached only there`);
}
