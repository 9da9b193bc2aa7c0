/** kubectl and helm for clusters that are not ours: those of the machine where it has both, else our own. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommand } from '../../support/process/command.ts';
import type { Progress } from '../../support/process/progress.ts';
import { ensureBinaries } from '../build.ts';
import { readClusterConfig } from '../config.ts';

/** A folder that has both. */
export async function ensureTools(progress: Progress): Promise<string> {
  const kubectl = await findCommand('kubectl');
  const helm = await findCommand('helm');
  if (!kubectl || !helm) return ensureBinaries(progress);
  const folder = join(readClusterConfig().cacheFolder, 'tools');
  await mkdir(folder, { recursive: true });
  for (const [name, path] of Object.entries({ kubectl, helm })) {
    await rm(join(folder, name), { force: true });
    await symlink(path, join(folder, name));
  }
  return folder;
}
