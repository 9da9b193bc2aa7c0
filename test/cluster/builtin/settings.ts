/** What a cluster was made with, kept in its folder, so that it is the same when it is started again. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import type { Layout } from './layout.ts';
import { chooseBlock } from './ports.ts';

const settingsSchema = z.object({
  block: z.number().int(),
  audit: z.boolean(),
  // A cluster that was made before there could be several has one.
  nodes: z.number().int().default(1),
});

export type Settings = z.infer<typeof settingsSchema>;

/** Undefined when there is no such cluster. Throws where the file is damaged. */
export async function readSettings(path: string): Promise<Settings | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return settingsSchema.parse(JSON.parse(text));
  } catch (cause) {
    const name = basename(dirname(path));
    const remedy = `remove the cluster (npm run cluster -- down --name ${name}), and start it again`;
    throw new Error(`${path} does not hold the settings of a cluster: ${remedy}`, { cause });
  }
}

/**
 * The cluster's settings, with ports of its own chosen when it is new; `audit` and `nodes` change what is
 * kept when they are given. Only one process may do this at a time. Throws for fewer nodes than the cluster
 * has.
 */
export async function ensureSettings(
  layout: Layout,
  clustersFolder: string,
  { audit, nodes }: { audit?: boolean; nodes?: number } = {},
): Promise<Settings> {
  const known = await readSettings(layout.settings);
  const block = known?.block ?? (await chooseBlock(await takenBlocks(clustersFolder)));
  const settings = {
    block,
    audit: audit ?? known?.audit ?? false,
    nodes: nodesOf(layout.name, known?.nodes, nodes),
  };
  await mkdir(layout.folder, { recursive: true, mode: 0o755 });
  await writeWhole(layout.settings, JSON.stringify(settings));
  return settings;
}

/**
 * A cluster gains nodes and never loses one: what runs on a node would have to move first, and its volumes
 * with it.
 */
function nodesOf(cluster: string, known = 1, wanted = known): number {
  if (wanted >= known) return wanted;
  throw new Error(
    `cluster ${cluster} has ${known} nodes, and none can be taken away: remove the cluster ` +
      `(npm run cluster -- down --name ${cluster}) and start it with --nodes ${wanted}`,
  );
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
