/**
 * Starts a part of a running built-in cluster again, for those who have killed it, from any process of this
 * machine.
 */
import { readClusterConfig } from '../config.ts';
import { layoutOf, type Layout } from './layout.ts';
import { findNode, type Node } from './node.ts';
import { healthEndpoints, type PartName } from './parts.ts';
import { waitForPart } from './start.ts';

/**
 * Starts the part as it was started last, and waits until it works. One that runs is left alone. Throws where
 * the cluster does not run or never had such a part.
 */
export async function startAgain(cluster: string, name: PartName): Promise<void> {
  const { layout, node } = await running(cluster);
  const known = (await node.parts())[name];
  if (!known) throw new Error(`cluster ${cluster} never started ${name}`);
  await node.start(name, known.command);
  await waitForPart(node, { name, command: known.command, health: healthEndpoints[name] }, layout);
}

async function running(cluster: string): Promise<{ layout: Layout; node: Node }> {
  const layout = layoutOf(readClusterConfig().clustersFolder, cluster);
  const node = await findNode(layout);
  if (!node) throw new Error(`cluster ${cluster} does not run here: npm run cluster -- up --name ${cluster}`);
  return { layout, node };
}
