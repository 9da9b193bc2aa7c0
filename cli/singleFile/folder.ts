/** The folder into which the single file unpacks the modules of `windlass`. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ArchivedFile } from './archive.ts';

/** Folders of other versions are kept for this time after they were unpacked. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

export type Unpacking = {
  /** Where folders of all versions are. It is created if it does not exist. */
  cache: string;
  /** Names this version. */
  version: string;
  files: () => readonly ArchivedFile[];
};

/**
 * The folder with the files: the one that an earlier start left in the cache, or a new one. Where the cache
 * cannot be written, it is a temporary folder that is removed when the process exits.
 * @throws if no folder can be written
 */
export function unpackedFolder({ cache, version, files }: Unpacking): string {
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    removeOld(cache);
    // Others may unpack the same version: the name is theirs once all files are there.
    const own = mkdtempSync(`${folder}-`);
    writeFiles(own, files());
    renameOrRemove(own, folder);
    return folder;
  } catch {
    const own = mkdtempSync(join(tmpdir(), 'windlass-'));
    process.on('exit', () => rmSync(own, { recursive: true, force: true }));
    writeFiles(own, files());
    return own;
  }
}

function writeFiles(folder: string, files: readonly ArchivedFile[]): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

function renameOrRemove(own: string, folder: string): void {
  try {
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
