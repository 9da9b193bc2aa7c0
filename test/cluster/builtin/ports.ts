/** Gives each cluster of a machine a block of ports of 127.0.0.1 that no other cluster has. */
import { isPortFree } from '../../support/process/freePort.ts';

/** The first and the last port of NodePort services, and the API server's. */
export type PortBlock = { nodePorts: [number, number]; api: number };

const first = 30_000;
const size = 100;
// Beyond 32767 the kernel takes ports for outgoing connections.
const blocks = 27;

/** The block with that number, from 0. */
export function portBlock(index: number): PortBlock {
  const start = first + index * size;
  return { nodePorts: [start, start + size - 2], api: start + size - 1 };
}

/**
 * The number of the first block that no cluster has and of which every port is free. Throws when there is
 * none.
 */
export async function chooseBlock(
  taken: ReadonlySet<number>,
  isFree: (block: PortBlock) => Promise<boolean> = everyPortIsFree,
): Promise<number> {
  for (let index = 0; index < blocks; index += 1) {
    if (!taken.has(index) && (await isFree(portBlock(index)))) return index;
  }
  throw new Error(
    `no ${size} free ports in a row between ${first} and ${first + blocks * size} on 127.0.0.1`,
  );
}

async function everyPortIsFree({ nodePorts, api }: PortBlock): Promise<boolean> {
  for (let port = nodePorts[0]; port <= api; port += 1) {
    if (!(await isPortFree(port))) return false;
  }
  return true;
}
