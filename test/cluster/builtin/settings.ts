/** What a cluster was made with, kept in its folder, so that it is the same when it is started again. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Layout } from './layout.ts';
import { chooseBlock } from './ports.ts';

const settingsSchema = z.object({ block: z.number().int(), audit: z.boolean() });

export type Settings = z.infer<typeof settingsSchema>;

/** Undefined when there is no such cluster. */
async function readSettings(path: string): Promise<Settings | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : settingsSchema.parse(JSON.parse(text));
}

/**
 * The cluster's settings, with ports of its own chosen when it is new; `audit` changes what is kept when it
 * is given. Only one process may do this at a time.
 */
export async function ensureSettings(
  layout: Layout,
  clustersFolder: string,
  audit?: boolean,
): Promise<Settings> {
  const known = await readSettings(layout.settings);
  const block = known?.block ?? (await chooseBlock(await takenBlocks(clustersFolder)));
  const settings = { block, audit: audit ?? known?.audit ?? false };
  await mkdir(layout.folder, { recursive: true, mode: 0o755 });
  await writeWhole(layout.settings, JSON.stringify(settings));
  return settings;
}

async function takenBlocks(clustersFolder: string): Promise<Set<number>> {
  const names = await readdir(clustersFolder).catch(() => []);
  const known = await Promise.all(
    names.map((name) => readSettings(join(clustersFolder, name, 'cluster.json'))),
  );
  return new Set(known.flatMap((settings) => (settings ? [settings.block] : [])));
}

/** Writes a file that is whole or not there, whenever the machine stops. */
export async function writeWhole(path: string, content: string, mode = 0o644): Promise<void> {
  await writeFile(`${path}.new`, content, { mode });
  await rename(`${path}.new`, path);
}
