/**
 * Folders for what tests and their servers write. Each bears the id of the process that made it, and whoever
 * makes the next one of its kind removes those whose process is gone: one that was killed had no time for
 * that.
 */
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Folder = {
  path: string;
  /** At the end of this process at the latest. */
  remove: () => void;
};

/** A new folder of that kind. */
export async function makeFolder(kind: string, parent = tmpdir()): Promise<Folder> {
  const prefix = `windlass-${kind}-`;
  for (const name of await readdir(parent)) {
    const owner = name.startsWith(prefix) && /^\d+(?=-)/.exec(name.slice(prefix.length))?.[0];
    if (owner && !existsSync(`/proc/${owner}`))
      await rm(join(parent, name), { recursive: true, force: true });
  }
  const path = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  const remove = (): void => {
    process.removeListener('exit', remove);
    // A server that is ending may still write.
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', remove);
  return { path, remove };
}
