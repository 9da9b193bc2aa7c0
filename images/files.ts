/** What an image consists of, as a list of files: it can be hashed, and laid out in a folder for a build. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * A file of an image by its absolute path there: a copy of one of this machine (links followed), or what is
 * in it.
 */
export type ImageFile = { to: string } & ({ from: string } | { content: string | Uint8Array });

/** A short name for an image that is made of these files in this way. */
export async function hashFiles(files: ImageFile[], ...recipe: string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(recipe));
  for (const file of files.toSorted((a, b) => (a.to < b.to ? -1 : 1))) {
    hash.update(`\0${file.to}\0`);
    if ('content' in file) hash.update(file.content);
    else for await (const chunk of createReadStream(file.from)) hash.update(chunk as Buffer);
  }
  return hash.digest('hex').slice(0, 12);
}

/** Lays the files out below a folder. Copies may be executed, others may not. */
export async function layOut(files: ImageFile[], folder: string): Promise<void> {
  for (const file of files) {
    const path = join(folder, file.to);
    await mkdir(dirname(path), { recursive: true });
    if ('content' in file) await writeFile(path, file.content);
    else await copyFile(file.from, path);
    await chmod(path, 'content' in file ? 0o644 : 0o755);
  }
}
