/**
 * What is built of our sources and takes seconds of processor time, built once for all processes that need
 * it, and kept until a source changes.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { layOut, type ImageFile } from '../../../images/files.ts';
import { withLock } from './lock.ts';

const root = join(import.meta.dirname, '../../..');
/** Another process may still use what was built of sources that have changed since. */
const UNUSED_MS = 86_400_000;

type Built = {
  kind: string;
  /** The folders of its sources; which packages are installed counts, too. */
  sources: readonly string[];
  build: () => Promise<ImageFile[]>;
};

/** The folder with the files, below `.windlass`. Nobody may write there. */
export async function builtFolder({ kind, sources, build }: Built): Promise<string> {
  const parent = join(root, '.windlass', kind);
  const folder = join(parent, hashOf(sources));
  const wait = () => undefined;
  await withLock(join(parent, 'lock'), wait, async () => {
    if (!existsSync(folder)) await buildInto(folder, await build());
    await utimes(folder, new Date(), new Date());
    await removeUnused(parent);
  });
  return folder;
}

function hashOf(sources: readonly string[]): string {
  const patterns = [`{${sources.join(',')}}/**/*.*`, 'package-lock.json'];
  const files = globSync(patterns, { cwd: root, exclude: ['**/*.test.*', '**/node_modules'] });
  const hash = createHash('sha256');
  for (const path of files.filter((each) => statSync(join(root, each)).isFile()).toSorted()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
}

/** Under another name first: what has the name of its sources is whole. */
async function buildInto(folder: string, files: ImageFile[]): Promise<void> {
  const unfinished = await mkdtemp(`${folder}-unfinished-`);
  await layOut(files, unfinished);
  await rename(unfinished, folder);
}

async function removeUnused(parent: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const { mtimeMs } = await stat(join(parent, name));
    if (Date.now() - mtimeMs > UNUSED_MS) await rm(join(parent, name), { recursive: true });
  }
}
