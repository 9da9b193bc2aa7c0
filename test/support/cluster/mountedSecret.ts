/** A folder as the kubelet mounts a Secret: all files are links to one version, which is replaced at once. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../process/folder.ts';

export type MountedSecret = {
  path: string;
  /** Replaces all files; the version before is gone then. */
  update: (files: Record<string, string>) => Promise<void>;
  remove: () => void;
};

/** The chart's `defaultMode` for certificates. */
const MODE = 0o440;

/** Mounts these files. */
export async function mountSecret(files: Record<string, string>): Promise<MountedSecret> {
  const { path, remove } = await makeFolder('secret');
  let version = 0;
  const place = async (contents: Record<string, string>): Promise<void> => {
    version += 1;
    const folder = join(path, `..${version}`);
    await mkdir(folder);
    for (const [name, text] of Object.entries(contents))
      await writeFile(join(folder, name), text, { mode: MODE });
    await symlink(`..${version}`, join(path, '..data_tmp'));
    await rename(join(path, '..data_tmp'), join(path, '..data'));
    await rm(join(path, `..${version - 1}`), { recursive: true, force: true });
  };
  await place(files);
  for (const name of Object.keys(files)) await symlink(join('..data', name), join(path, name));
  return { path, update: place, remove };
}
