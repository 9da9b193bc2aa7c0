/** The built-in cluster: one node of real Kubernetes programs on this machine, without a container engine or registry. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, runCommand } from '../../support/command.ts';
import { withLock } from '../../support/lock.ts';
import { pollUntil } from '../../support/poll.ts';
import { stepFailure, type Progress } from '../../support/progress.ts';
import { clusterImages, ensureBinaries } from '../build.ts';
import { readClusterConfig } from '../config.ts';
import { clusterPackages, ensurePackages } from '../packages.ts';
import type { Cluster, ClusterProvider, ClusterRequest, PartStatus } from '../provider.ts';
import { addonManifests } from './addons.ts';
import { ensureCgroups, removeCgroups } from './cgroups.ts';
import { cniConfiguration, containerdConfiguration, kubeletConfiguration } from './container-runtime.ts';
import { auditPolicy } from './control-plane.ts';
import { ensureIdentities } from './identities.ts';
import { importImage } from './images.ts';
import { layoutOf, type Layout } from './layout.ts';
import { ensureNode, findNode, killNode, type Node } from './node.ts';
import { partsOf, type Part, type PartContext } from './parts.ts';
import { portBlock } from './ports.ts';
import { waitForDns, waitForFreshPods, waitForNode, type GetJson } from './readiness.ts';
import { ensureSettings, readSettings } from './settings.ts';

const mostStarts = 5;

export const builtinProvider: ClusterProvider = {
  name: 'builtin',
  up,
  down,
  status,
  kubeconfig: findKubeconfig,
};

async function up(request: ClusterRequest): Promise<Cluster> {
  requireLinuxAndRoot();
  const { name, progress } = request;
  const layout = layoutOf(readClusterConfig().clustersFolder, name);
  await ensurePackages(clusterPackages, progress);
  const binDir = await ensureBinaries(progress);
  return locked(name, progress, async () => {
    const context = await prepare(layout, binDir, request.audit);
    const node = await startParts(context, progress);
    await startAddons(context, node, progress);
    return describe(context, node);
  });
}

/** Everything that lies in the cluster's folder before anything runs. Written each time: it is the same each time. */
async function prepare(layout: Layout, binDir: string, audit: boolean | undefined): Promise<PartContext> {
  const { cacheFolder, clustersFolder } = readClusterConfig();
  const settings = await withLock(
    join(cacheFolder, 'locks', 'ports'),
    () => {},
    () => ensureSettings(layout, clustersFolder, audit),
  );
  const ports = portBlock(settings.block);
  for (const folder of [layout.logs, layout.cni, layout.volumes]) await mkdir(folder, { recursive: true });
  await ensureIdentities(layout, binDir, ports.api);
  await writeFile(layout.auditPolicy, auditPolicy());
  await writeFile(layout.containerdConfiguration, containerdConfiguration(layout, cniPrograms()));
  await writeFile(layout.kubeletConfiguration, kubeletConfiguration(layout));
  await writeFile(join(layout.cni, 'pods.conflist'), cniConfiguration());
  await ensureCgroups(layout.name);
  const containerd = await requireCommand('containerd');
  return { layout, binDir, containerd, ports, audit: settings.audit };
}

async function startParts(context: PartContext, progress: Progress): Promise<Node> {
  const { layout, binDir, ports } = context;
  return progress.step(`start the programs of cluster ${layout.name}`, async (update) => {
    const node = await ensureNode(layout, binDir, ports).catch((cause: unknown) => {
      const remedy = `free the port, or remove the cluster (npm run cluster -- down --name ${layout.name}) and start it anew`;
      throw stepFailure('the node could not be started', {
        cause,
        log: join(layout.logs, 'node.log'),
        remedy,
      });
    });
    for (const parts of partsOf(context)) {
      update(parts.map((part) => part.name).join(', '));
      for (const part of parts) await node.start(part.name, part.command);
      await Promise.all(parts.map((part) => waitForPart(node, part, layout)));
    }
    return node;
  });
}

/** A part that ends at once is started a few times more: a port of the one before it may not be free yet. */
async function waitForPart(node: Node, part: Part, layout: Layout): Promise<void> {
  const log = join(layout.logs, `${part.name}.log`);
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
    const remedy = `read the log, then run this again; npm run cluster -- status --name ${layout.name} shows all parts`;
    throw stepFailure(`${part.name} does not work`, { cause, log, remedy });
  }
}

async function lastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-5).join('\n');
}

async function startAddons(context: PartContext, node: Node, progress: Progress): Promise<void> {
  const { layout, binDir } = context;
  const kubectl = (args: string[], input?: string) =>
    runCommand(join(binDir, 'kubectl'), ['--kubeconfig', layout.kubeconfig, ...args], { input });
  const getJson: GetJson = async (args) => JSON.parse(await kubectl(['get', '--output=json', ...args]));
  await progress.step(`get the node and DNS of cluster ${layout.name} ready`, async (update) => {
    update('images');
    for (const { archive, reference } of Object.values(clusterImages)) {
      await importImage(layout, join(binDir, archive), reference);
    }
    update('storage class and DNS');
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], addonManifests());
    update('waiting for the node');
    await waitForNode(layout, node, getJson);
    update('waiting for the pods');
    await waitForFreshPods(layout, getJson);
    update('waiting for DNS');
    await waitForDns(node);
  });
}

function describe(context: PartContext, node: Node): Cluster {
  const { layout, binDir, ports, audit } = context;
  const part = (name: string) => {
    const found = partsOf(context)
      .flat()
      .find((each) => each.name === name);
    if (!found) throw new Error(`the cluster has no part ${name}`);
    return found;
  };
  return {
    name: layout.name,
    provider: 'builtin',
    kubeconfigPath: layout.kubeconfig,
    binDir,
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
  const layout = layoutOf(readClusterConfig().clustersFolder, name);
  if (!existsSync(layout.folder)) return;
  requireLinuxAndRoot();
  await locked(name, progress, () => progress.step(`remove cluster ${name}`, () => remove(layout)));
}

async function remove(layout: Layout): Promise<void> {
  await killNode(layout);
  await removeCgroups(layout.name);
  await rm(layout.folder, { recursive: true, force: true });
}

async function status(name: string): Promise<PartStatus[] | undefined> {
  const layout = layoutOf(readClusterConfig().clustersFolder, name);
  const settings = await readSettings(layout.settings);
  if (!settings) return undefined;
  const node = await findNode(layout);
  if (!node) return [{ part: 'node', state: 'ended', detail: 'nothing of the cluster runs' }];
  const known = await node.parts();
  const context = {
    layout,
    binDir: '',
    containerd: '',
    ports: portBlock(settings.block),
    audit: settings.audit,
  };
  return Promise.all(
    partsOf(context)
      .flat()
      .map(async ({ name: part, health }): Promise<PartStatus> => {
        const state = known[part];
        if (!state) return { part, state: 'ended', detail: 'never started' };
        if (!state.running)
          return { part, state: 'ended', detail: `${state.exit} at ${state.since.toISOString()}` };
        const answer = health === undefined ? 200 : await node.probe(health);
        if (answer === 200) return { part, state: 'works', detail: `since ${state.since.toISOString()}` };
        return { part, state: 'ill', detail: answer === undefined ? 'does not answer' : `answers ${answer}` };
      }),
  );
}

async function findKubeconfig(name: string): Promise<string | undefined> {
  const layout = layoutOf(readClusterConfig().clustersFolder, name);
  return readFile(layout.kubeconfig, 'utf8').then(
    () => layout.kubeconfig,
    () => undefined,
  );
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

function cniPrograms(): string {
  return existsSync('/usr/lib/cni/bridge') ? '/usr/lib/cni' : '/opt/cni/bin';
}

async function requireCommand(name: string): Promise<string> {
  const found = await findCommand(name);
  if (!found) throw new Error(`${name} is not on PATH (${process.env['PATH']})`);
  return found;
}
