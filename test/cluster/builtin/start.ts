/** Starts what does not run of a cluster, in order, and waits until each thing works. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { stepFailure, type Progress, type Update } from '../../support/process/progress.ts';
import { clusterImages } from '../build.ts';
import { addonManifests } from './addons.ts';
import { importImage } from './images.ts';
import type { NodeLayout } from './layout.ts';
import { ensureLinks } from './links.ts';
import { ensureNode, type Node } from './node.ts';
import { partsOf, type NodeContext, type Part, type PartContext } from './parts.ts';
import { waitForDns, waitForFreshPods, waitForNode, type GetJson } from './readiness.ts';

const mostStarts = 5;

/**
 * The nodes, each with every part at work. A part that runs as it should is left alone.
 */
export async function startParts(context: PartContext, progress: Progress): Promise<Node[]> {
  const { layout, nodes } = context;
  return progress.step(`start the programs of cluster ${layout.name}`, async (update) => {
    const running = await Promise.all(
      nodes.map(async (each) => ({ each, node: await startNode(context, each.place) })),
    );
    await ensureLinks(nodes.map(({ place }) => place));
    const [first, ...others] = running;
    // The others need its API server.
    if (first) await startPartsOf(context, first, update);
    await Promise.all(others.map((other) => startPartsOf(context, other, update)));
    return running.map(({ node }) => node);
  });
}

function startNode({ layout, programs, ports }: PartContext, place: NodeLayout): Promise<Node> {
  const forwarded = place.number === 1 ? { ports } : {};
  return ensureNode({ cluster: layout, place, binDir: programs.folder, ...forwarded }).catch((cause) => {
    const remedy = `free the port, or remove the cluster (npm run cluster -- down --name ${layout.name}) and start it again`;
    const log = join(place.logs, 'node.log');
    throw stepFailure(`node ${place.name} could not be started`, { cause, log, remedy });
  });
}

async function startPartsOf(
  context: PartContext,
  { each, node }: { each: NodeContext; node: Node },
  update: Update,
): Promise<void> {
  for (const parts of partsOf(context, each)) {
    update(parts.map((part) => part.name).join(', '));
    for (const part of parts) await node.start(part.name, part.command);
    await Promise.all(
      parts.map((part) => waitForPart(node, part, { ...each.place, cluster: context.layout.name })),
    );
  }
}

/**
 * Waits until the part works. One that ends at once is started a few times more: a port of the one before it
 * may not be free yet. Throws with the last lines of its log.
 */
export async function waitForPart(
  node: Node,
  part: Part,
  { cluster, logs }: { cluster: string; logs: string },
): Promise<void> {
  const log = join(logs, `${part.name}.log`);
  let starts = 0;
  const works = async () => {
    const state = (await node.parts())[part.name];
    if (state?.running) return part.health === undefined || (await node.probe(part.health)) === 200;
    if (starts === mostStarts) return 'gave up';
    starts += 1;
    await node.start(part.name, part.command);
    throw new Error(`it ended: ${state?.exit ?? 'it was never started'}`);
  };
  try {
    const outcome = await pollUntil(`a healthy ${part.name}`, works, { timeoutMs: 90_000, everyMs: 200 });
    if (outcome === 'gave up') throw new Error(`it ended ${starts + 1} times\n${await lastLines(log)}`);
  } catch (cause) {
    const remedy = `read the log, then run this again; npm run cluster -- status --name ${cluster} shows all parts`;
    throw stepFailure(`${part.name} does not work`, { cause, log, remedy });
  }
}

/** DNS and storage, and what is said of nodes and pods is true again. */
export async function startAddons(
  context: PartContext,
  running: readonly Node[],
  progress: Progress,
): Promise<void> {
  const { layout, programs, nodes } = context;
  const each = (work: (place: NodeLayout, node: Node) => Promise<void>) =>
    Promise.all(
      running.map(async (node, index) => {
        const known = nodes[index];
        if (known) await work(known.place, node);
      }),
    );
  const kubectl = (args: string[], input?: string) =>
    runCommand(join(programs.folder, 'kubectl'), ['--kubeconfig', layout.kubeconfig, ...args], { input });
  const getJson: GetJson = async (args) => JSON.parse(await kubectl(['get', '--output=json', ...args]));
  await progress.step(
    `get ${nodes.length === 1 ? 'the node' : 'the nodes'} and DNS of cluster ${layout.name} ready`,
    async (update) => {
      update('images');
      await each(async (place) => {
        for (const { archive, reference } of Object.values(clusterImages)) {
          await importImage(place, join(programs.folder, archive), reference);
        }
      });
      update('storage class and DNS');
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], addonManifests(layout.name));
      update('waiting for the nodes');
      await each((place, node) => waitForNode(place, node, getJson));
      update('waiting for the pods');
      await each((place) => waitForFreshPods(place, getJson));
      update('waiting for DNS');
      await each((_place, node) => waitForDns(node));
    },
  );
}

async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-5).join('\n');
}
