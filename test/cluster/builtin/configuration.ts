/**
 * Writes all that a cluster's programs read before anything of it runs. Written each time: the same settings
 * give the same files.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findCommand } from '../../support/process/command.ts';
import { withLock } from '../../support/process/lock.ts';
import { readClusterConfig } from '../config.ts';
import { ensureCgroup } from './cgroups.ts';
import { cniConfiguration, containerdConfiguration, kubeletConfiguration } from './container-runtime.ts';
import { auditPolicy } from './control-plane.ts';
import { ensureIdentities } from './identities.ts';
import { nodeLayout, nodeLayouts, type Layout, type NodeLayout } from './layout.ts';
import type { NodeContext, PartContext } from './parts.ts';
import { portBlock } from './ports.ts';
import { ensureSettings, writeWhole } from './settings.ts';

/**
 * Makes the folder of a new cluster complete, or that of a known one what this state of the sources wants.
 */
export async function configure(
  layout: Layout,
  binDir: string,
  wanted: { audit?: boolean; nodes?: number },
): Promise<PartContext> {
  const { cacheFolder, clustersFolder, goCollection } = readClusterConfig();
  const settings = await withLock(
    join(cacheFolder, 'locks', 'ports'),
    () => {},
    () => ensureSettings(layout, clustersFolder, wanted),
  );
  const ports = portBlock(settings.block);
  const places = nodeLayouts(layout, settings.nodes);
  await mkdir(layout.volumes, { recursive: true });
  await ensureIdentities(layout, binDir, { apiPort: ports.api, nodes: settings.nodes });
  const policy = await writeHashed(nodeLayout(layout, 1), 'audit-policy', auditPolicy());
  const containerd = await findCommand('containerd');
  if (!containerd) throw new Error('containerd is not on PATH');
  return {
    layout,
    programs: { folder: binDir, containerd },
    ports,
    audit: settings.audit,
    auditPolicy: policy,
    nodes: await Promise.all(places.map((place) => configureNode(layout, place, policy))),
    goCollection,
  };
}

async function configureNode(layout: Layout, place: NodeLayout, policy: string): Promise<NodeContext> {
  for (const folder of [place.logs, place.cni]) await mkdir(folder, { recursive: true });
  await writeFile(join(place.cni, 'pods.conflist'), cniConfiguration(place));
  await ensureCgroup(place);
  const kubelet = await writeHashed(place, 'kubelet', kubeletConfiguration(layout, place));
  const containerd = await writeHashed(place, 'containerd', containerdConfiguration(place, cniPrograms()));
  await removeOthers(place.configurations, [kubelet, containerd, policy]);
  return { place, files: { kubelet, containerd } };
}

/**
 * Its name changes with its content, and so does the command line of the program that reads it, which is then
 * started again.
 */
async function writeHashed(place: NodeLayout, name: string, content: string): Promise<string> {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const path = join(place.configurations, `${name}-${hash}`);
  await mkdir(place.configurations, { recursive: true });
  await writeWhole(path, content);
  return path;
}

async function removeOthers(folder: string, wanted: string[]): Promise<void> {
  const names = new Set(wanted.map((path) => basename(path)));
  for (const name of await readdir(folder)) {
    if (!names.has(name)) await rm(join(folder, name));
  }
}

/** Debian's place, and the one of everybody else. */
function cniPrograms(): string {
  return existsSync('/usr/lib/cni/bridge') ? '/usr/lib/cni' : '/opt/cni/bin';
}
