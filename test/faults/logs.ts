/**
 * Keeps what the pods say during a fault run: each pod's files of the node are copied, also those of
 * containers that are gone.
 */
import { cp, mkdtemp, readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layoutOf } from '../cluster/builtin/layout.ts';
import { readClusterConfig } from '../cluster/config.ts';

/** Copies the logs of all pods and parts as they are now into a new folder; gives its path. */
export async function keepLogs(cluster: string): Promise<string> {
  const layout = layoutOf(readClusterConfig().clustersFolder, cluster);
  const folder = await mkdtemp(join(tmpdir(), 'windlass-faults-'));
  const further = (await readdir(layout.folder)).filter((name) => /^node-\d$/.test(name));
  const nodes = ['', ...further].flatMap((node) => [
    [join(layout.folder, node, 'var/log/pods'), join('pods', node)] as const,
    [join(layout.folder, node, 'logs'), join('parts', node)] as const,
  ]);
  for (const [from, to] of nodes) {
    if (existsSync(from))
      await cp(from, join(folder, to), { recursive: true, filter: (path) => !path.endsWith('audit.log') });
  }
  return folder;
}
