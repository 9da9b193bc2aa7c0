/**
 * A kind cluster, for machines with a Docker engine: the same ports on 127.0.0.1 as the built-in one, nothing
 * more.
 */
import { rm } from 'node:fs/promises';
import { stringify } from 'yaml';
import { findCommand, runCommand } from '../../support/process/command.ts';
import { layoutOf, type Layout } from '../builtin/layout.ts';
import { portBlock, type PortBlock } from '../builtin/ports.ts';
import { ensureSettings } from '../builtin/settings.ts';
import { readClusterConfig } from '../config.ts';
import type { Cluster, ClusterProvider, ClusterRequest, PartStatus } from '../provider.ts';
import type { Progress } from '../../support/process/progress.ts';
import { ensureTools } from './tools.ts';

export const kindProvider: ClusterProvider = {
  name: 'kind',
  up,
  down: (name, progress) => progress.step(`remove the kind cluster ${name}`, () => remove(layout(name))),
  status,
  access: async (name, progress) => {
    if (!(await exists(name))) return undefined;
    return { kubeconfigPath: layout(name).kubeconfig, binDir: await ensureTools(progress) };
  },
};

const creationMs = 600_000;

/** A Docker engine answers within two seconds, and kind is there. */
export async function isKindUsable(): Promise<boolean> {
  if (!(await findCommand('kind')) || !(await findCommand('docker'))) return false;
  return runCommand('docker', ['info'], { timeoutMs: 2000 }).then(
    () => true,
    () => false,
  );
}

async function up({ name, progress }: ClusterRequest): Promise<Cluster> {
  const place = layout(name);
  const binDir = await ensureTools(progress);
  const ports = portBlock((await ensureSettings(place, readClusterConfig().clustersFolder)).block);
  if (await exists(name)) await resume(place, progress);
  else await create(place, ports, progress);
  return {
    name,
    provider: 'kind',
    kubeconfigPath: place.kubeconfig,
    binDir,
    nodePortRange: ports.nodePorts,
    loadImage: async (archive) => {
      await runCommand('kind', ['load', 'image-archive', archive, '--name', name], { timeoutMs: creationMs });
    },
    down: () => remove(place),
  };
}

async function create(place: Layout, ports: PortBlock, progress: Progress): Promise<void> {
  const args = [
    'create',
    'cluster',
    '--name',
    place.name,
    '--kubeconfig',
    place.kubeconfig,
    '--config',
    '-',
    '--wait',
    '5m',
  ];
  await progress.step(`create the kind cluster ${place.name}`, (update) =>
    runCommand('kind', args, { input: kindConfiguration(ports), timeoutMs: creationMs, onLine: update }),
  );
}

/** Its container may have been stopped, such as by a restart of the machine. */
async function resume(place: Layout, progress: Progress): Promise<void> {
  await progress.step(`start the kind cluster ${place.name}`, async () => {
    await runCommand('docker', ['start', `${place.name}-control-plane`]);
    await runCommand('kind', [
      'export',
      'kubeconfig',
      '--name',
      place.name,
      '--kubeconfig',
      place.kubeconfig,
    ]);
  });
}

function kindConfiguration({ nodePorts: [first, last] }: PortBlock): string {
  const ports = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return stringify({
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    kind: 'Cluster',
    nodes: [
      {
        role: 'control-plane',
        extraPortMappings: ports.map((port) => ({
          containerPort: port,
          hostPort: port,
          listenAddress: '127.0.0.1',
        })),
        kubeadmConfigPatches: [
          stringify({
            kind: 'ClusterConfiguration',
            apiServer: { extraArgs: { 'service-node-port-range': `${first}-${last}` } },
          }),
        ],
      },
    ],
  });
}

async function remove(place: Layout): Promise<void> {
  await runCommand('kind', ['delete', 'cluster', '--name', place.name], { timeoutMs: creationMs });
  await rm(place.folder, { recursive: true, force: true });
}

async function status(name: string): Promise<PartStatus[] | undefined> {
  if (!(await exists(name))) return undefined;
  const node = `${name}-control-plane`;
  const running = await runCommand('docker', ['inspect', '--format', '{{.State.Running}}', node]);
  return running.trim() === 'true'
    ? [{ part: node, state: 'works', detail: 'a container of Docker' }]
    : [{ part: node, state: 'ended', detail: 'a container of Docker' }];
}

async function exists(name: string): Promise<boolean> {
  return (await runCommand('kind', ['get', 'clusters'])).split('\n').includes(name);
}

function layout(name: string): Layout {
  return layoutOf(readClusterConfig().clustersFolder, name);
}
