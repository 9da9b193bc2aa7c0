/**
 * The built-in cluster: one node of real Kubernetes programs on this machine, without a container engine or
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
import { layoutOf, type Layout } from './layout.ts';
import { findNode, killNode, type Node } from './node.ts';
import { healthEndpoints, partNames, partsOf, type PartContext } from './parts.ts';
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

async function up({ name, audit, progress }: ClusterRequest): Promise<Cluster> {
  requireLinuxAndRoot();
  const place = layout(name);
  await ensurePackages(clusterPackages, progress);
  const binDir = await ensureBinaries(progress);
  return locked(name, progress, async () => {
    const context = await configure(place, binDir, audit);
    const node = await startParts(context, progress);
    await startAddons(context, node, progress);
    return describe(context, node);
  });
}

function describe(context: PartContext, node: Node): Cluster {
  const { layout, programs, ports, audit } = context;
  const part = (name: string) => {
    const found = partsOf(context)
      .flat()
      .find((each) => each.name === name);
    if (!found) throw new Error(`the cluster has no part ${name}: it has ${partNames.join(', ')}`);
    return found;
  };
  return {
    name: layout.name,
    provider: 'builtin',
    kubeconfigPath: layout.kubeconfig,
    binDir: programs.folder,
    nodePortRange: ports.nodePorts,
    auditLog: audit ? layout.auditLog : undefined,
    loadImage: (archivePath, reference) => importImage(layout, archivePath, reference),
    stopPart: (name) => node.stop(part(name).name, 5),
    startPart: async (name) => {
      await node.start(name, part(name).command);
      await waitForPart(node, part(name), layout);
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
  await killNode(place);
  await removeCgroups(place.name);
  await rm(place.folder, { recursive: true, force: true });
}

async function status(name: string): Promise<PartStatus[] | undefined> {
  const place = layout(name);
  if (!existsSync(place.folder)) return undefined;
  const node = await findNode(place);
  if (!node) return [{ part: 'node', state: 'ended', detail: 'nothing of the cluster runs' }];
  const known = await node.parts();
  return Promise.all(
    partNames.map(async (part): Promise<PartStatus> => {
      const state = known[part];
      if (!state) return { part, state: 'ended', detail: 'never started' };
      const since = state.since.toISOString();
      if (!state.running) return { part, state: 'ended', detail: `${state.exit} at ${since}` };
      const endpoint = healthEndpoints[part];
      const answer = endpoint === undefined ? 200 : await node.probe(endpoint);
      if (answer === 200) return { part, state: 'works', detail: `since ${since}` };
      return { part, state: 'ill', detail: `${endpoint} answers ${answer}` };
    }),
  );
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
