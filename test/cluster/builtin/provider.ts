/**
 * The built-in cluster: nodes of real Kubernetes programs on this machine, without a container engine or
 * registry.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../../support/process/lock.ts';
import type { Progress } from '../../support/process/progress.ts';
import { ensureBinaries } from '../build.ts';
import { readClusterConfig } from '../config.ts';
import { clusterPackages, ensurePackages } from '../packages.ts';
import type { Cluster, ClusterProvider, ClusterRequest, PartStatus } from '../provider.ts';
import { removeCgroups } from './cgroups.ts';
import { configure } from './configuration.ts';
import { importImage } from './images.ts';
import { layoutOf, nodeLayouts, type Layout, type NodeLayout } from './layout.ts';
import { findNode, killNodes, type Node } from './node.ts';
import {
  healthEndpoints,
  partNamesOf,
  partsOf,
  type Part,
  type PartContext,
  type PartName,
} from './parts.ts';
import { readSettings } from './settings.ts';
import { startAddons, startParts, waitForPart } from './start.ts';

export const builtinProvider: ClusterProvider = {
  name: 'builtin',
  up,
  down,
  status,
  access: async (name, progress) => {
    const kubeconfigPath = layout(name).kubeconfig;
    if (!existsSync(kubeconfigPath)) return undefined;
    return { kubeconfigPath, binDir: await ensureBinaries(progress) };
  },
};

async function up({ name, audit, nodes, progress }: ClusterRequest): Promise<Cluster> {
  requireLinuxAndRoot();
  const place = layout(name);
  await ensurePackages(clusterPackages, progress);
  const binDir = await ensureBinaries(progress);
  return locked(name, progress, async () => {
    const context = await configure(place, binDir, {
      ...(audit !== undefined && { audit }),
      ...(nodes !== undefined && { nodes }),
    });
    const running = await startParts(context, progress);
    await startAddons(context, running, progress);
    return describe(context, running);
  });
}

type NodePart = { part: Part; place: NodeLayout; node: Node };

function describe(context: PartContext, running: readonly Node[]): Cluster {
  const { layout, programs, ports, audit, nodes } = context;
  const known = running.flatMap((node, index): [string, NodePart][] => {
    const each = nodes[index];
    if (!each) return [];
    const parts = partsOf(context, each).flat();
    return parts.map((part) => [nameOf(each.place, part.name), { part, place: each.place, node }]);
  });
  const part = (name: string): NodePart => {
    const found = new Map(known).get(name);
    if (!found) {
      const names = known.map(([each]) => each);
      throw new Error(`the cluster has no part ${name}: it has ${names.join(', ')}`);
    }
    return found;
  };
  return {
    name: layout.name,
    provider: 'builtin',
    kubeconfigPath: layout.kubeconfig,
    binDir: programs.folder,
    nodePortRange: ports.nodePorts,
    auditLog: audit ? layout.auditLog : undefined,
    loadImage: async (archivePath, reference) => {
      await Promise.all(nodes.map(({ place }) => importImage(place, archivePath, reference)));
    },
    stopPart: async (name) => {
      const found = part(name);
      await found.node.stop(found.part.name, 5);
    },
    startPart: async (name) => {
      const found = part(name);
      await found.node.start(found.part.name, found.part.command);
      await waitForPart(found.node, found.part, { cluster: layout.name, logs: found.place.logs });
    },
    down: () => remove(layout),
  };
}

async function down(name: string, progress: Progress): Promise<void> {
  const place = layout(name);
  if (!existsSync(place.folder)) return progress.say(`› there is no cluster ${name}`);
  requireLinuxAndRoot();
  await locked(name, progress, () => progress.step(`remove cluster ${name}`, () => remove(place)));
}

async function remove(place: Layout): Promise<void> {
  await killNodes(place);
  await removeCgroups(place);
  await rm(place.folder, { recursive: true, force: true });
}

async function status(name: string): Promise<PartStatus[] | undefined> {
  const place = layout(name);
  if (!existsSync(place.folder)) return undefined;
  // A folder without settings is what is left of a start that was stopped at its beginning.
  const { nodes } = (await readSettings(place.settings)) ?? { nodes: 1 };
  return (await Promise.all(nodeLayouts(place, nodes).map(statusOfNode))).flat();
}

async function statusOfNode(place: NodeLayout): Promise<PartStatus[]> {
  const node = await findNode(place);
  if (!node) {
    const detail = place.number === 1 ? 'its control plane and pods do not run' : 'nothing of it runs';
    return [{ part: nameOf(place, 'node'), state: 'ended', detail }];
  }
  const known = await node.parts();
  return Promise.all(
    partNamesOf(place.number).map(async (name): Promise<PartStatus> => {
      const part = nameOf(place, name);
      const state = known[name];
      if (!state) return { part, state: 'ended', detail: 'never started' };
      const since = state.since.toISOString();
      if (!state.running) return { part, state: 'ended', detail: `${state.exit} at ${since}` };
      const endpoint = healthEndpoints[name];
      const answer = endpoint === undefined ? 200 : await node.probe(endpoint);
      if (answer === 200) return { part, state: 'works', detail: `since ${since}` };
      return { part, state: 'ill', detail: `${endpoint} answers ${answer}` };
    }),
  );
}

/** Of a part or of the node itself, such as `kubelet`, or `node-2/kubelet` of a further node. */
function nameOf({ number }: NodeLayout, part: PartName | 'node'): string {
  return number === 1 ? part : `node-${number}${part === 'node' ? '' : `/${part}`}`;
}

function layout(name: string): Layout {
  return layoutOf(readClusterConfig().clustersFolder, name);
}

function locked<T>(name: string, progress: Progress, work: () => Promise<T>): Promise<T> {
  const wait = () => progress.say(`› waiting for another process that works on cluster ${name}`);
  return withLock(join(readClusterConfig().cacheFolder, 'locks', `cluster-${name}`), wait, work);
}

function requireLinuxAndRoot(): void {
  const others =
    'Start a Docker engine and install kind (https://kind.sigs.k8s.io), or point kubectl at a cluster and set WINDLASS_CLUSTER=current.';
  if (process.platform !== 'linux') throw new Error(`The built-in cluster needs Linux. ${others}`);
  if (process.getuid?.() !== 0) throw new Error(`The built-in cluster needs root. ${others}`);
}
