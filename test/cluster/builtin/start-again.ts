/**
 * Starts a part of a running built-in cluster again, for those who have killed it, from any process of this
 * machine.
 */
import { readClusterConfig } from '../config.ts';
import { layoutOf, nodeLayout, type NodeLayout } from './layout.ts';
import { findNode, type Node } from './node.ts';
import { healthEndpoints, type PartName } from './parts.ts';
import { waitForPart } from './start.ts';

/**
 * Starts a part of the first node as it was started last, and waits until it works. One that runs is left
 * alone. Throws where the cluster does not run or never had such a part.
 */
export async function startAgain(cluster: string, name: PartName): Promise<void> {
  const { place, node } = await running(cluster);
  const known = (await node.parts())[name];
  if (!known) throw new Error(`cluster ${cluster} never started ${name}`);
  await node.start(name, known.command);
  const part = { name, command: known.command, health: healthEndpoints[name] };
  await waitForPart(node, part, { cluster, logs: place.logs });
}

async function running(cluster: string): Promise<{ place: NodeLayout; node: Node }> {
  const place = nodeLayout(layoutOf(readClusterConfig().clustersFolder, cluster), 1);
  const node = await findNode(place);
  if (!node) throw new Error(`cluster ${cluster} does not run here: npm run cluster -- up --name ${cluster}`);
  return { place, node };
}
