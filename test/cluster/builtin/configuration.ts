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
import { ensureCgroups } from './cgroups.ts';
import { cniConfiguration, containerdConfiguration, kubeletConfiguration } from './container-runtime.ts';
import { auditPolicy } from './control-plane.ts';
import { ensureIdentities } from './identities.ts';
import type { Layout } from './layout.ts';
import type { PartContext } from './parts.ts';
import { portBlock } from './ports.ts';
import { ensureSettings, writeWhole } from './settings.ts';

/**
 * Makes the folder of a new cluster complete, or that of a known one what this state of the sources wants.
 */
export async function configure(layout: Layout, binDir: string, audit?: boolean): Promise<PartContext> {
  const { cacheFolder, clustersFolder } = readClusterConfig();
  const settings = await withLock(
    join(cacheFolder, 'locks', 'ports'),
    () => {},
    () => ensureSettings(layout, clustersFolder, audit),
  );
  const ports = portBlock(settings.block);
  for (const folder of [layout.logs, layout.cni, layout.volumes]) await mkdir(folder, { recursive: true });
  await ensureIdentities(layout, binDir, ports.api);
  await writeFile(join(layout.cni, 'pods.conflist'), cniConfiguration());
  await ensureCgroups(layout.name);
  const containerd = await findCommand('containerd');
  if (!containerd) throw new Error('containerd is not on PATH');
  return {
    layout,
    programs: { folder: binDir, containerd },
    ports,
    audit: settings.audit,
    files: await writeFiles(layout),
  };
}

async function writeFiles(layout: Layout): Promise<PartContext['files']> {
  const kubelet = await writeHashed(layout, 'kubelet', kubeletConfiguration(layout));
  const containerd = await writeHashed(layout, 'containerd', containerdConfiguration(layout, cniPrograms()));
  const policy = await writeHashed(layout, 'audit-policy', auditPolicy());
  await removeOthers(layout.configurations, [kubelet, containerd, policy]);
  return { kubelet, containerd, auditPolicy: policy };
}

/**
 * Its name changes with its content, and so does the command line of the program that reads it, which is then
 * started again.
 */
async function writeHashed(layout: Layout, name: string, content: string): Promise<string> {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const path = join(layout.configurations, `${name}-${hash}`);
  await mkdir(layout.configurations, { recursive: true });
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
