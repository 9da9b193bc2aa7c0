/**
 * Cuts a further node of a built-in cluster off: packets are dropped inside the node's own network, so that
 * neither side is told, and connections stay open. All pods of the node keep running.
 */
import { inNode } from '../../cluster/builtin/links.ts';
import { network, nodeLayout, layoutOf, type NodeLayout } from '../../cluster/builtin/layout.ts';
import { readClusterConfig } from '../../cluster/config.ts';

const REDIS_PORT = 6379;
const KUBELET_PORT = 10_250;

/** Where everything of a node of the cluster lies. */
export function nodeOf(cluster: string, number: number): NodeLayout {
  return nodeLayout(layoutOf(readClusterConfig().clustersFolder, cluster), number);
}

/**
 * The node and its pods hear nothing of the API server any more, nor it of them, until the function that this
 * returns is called. Everything else they reach.
 */
export function cutApiServer(node: NodeLayout): Promise<() => Promise<void>> {
  return drop(node, [
    ['-d', network.nodeAddress, '-p', 'tcp', '--dport', String(network.apiPort)],
    ['-s', network.nodeAddress, '-p', 'tcp', '--sport', String(network.apiPort)],
    ['-s', network.nodeAddress, '-p', 'tcp', '--dport', String(KUBELET_PORT)],
    ['-d', network.nodeAddress, '-p', 'tcp', '--sport', String(KUBELET_PORT)],
  ]);
}

/**
 * The pods of the node hear nothing of the run store any more, until the function that this returns is
 * called.
 */
export function cutRunStore(node: NodeLayout): Promise<() => Promise<void>> {
  const port = String(REDIS_PORT);
  return drop(node, [
    ['-p', 'tcp', '--dport', port],
    ['-p', 'tcp', '--sport', port],
  ]);
}

/** Packets of pods are forwarded, those of the node's own programs come in and go out. */
async function drop(node: NodeLayout, matches: readonly string[][]): Promise<() => Promise<void>> {
  const rules = matches.flatMap((match) => ['FORWARD', 'INPUT', 'OUTPUT'].map((chain) => [chain, ...match]));
  const change = async (action: string) => {
    for (const rule of rules) await inNode(node, ['iptables', '-w', action, ...rule, '-j', 'DROP']);
  };
  await change('-I');
  return () => change('-D');
}
