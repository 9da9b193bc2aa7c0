/**
 * The control groups of the pods of a cluster, those of further nodes inside that of the first: made before
 * the kubelets start, which require them, and removed at the end.
 */
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pollUntil } from '../../support/time/poll.ts';
import { nodeLayout, type Layout, type NodeLayout } from './layout.ts';

const root = '/sys/fs/cgroup';

/** In each hierarchy of cgroup v1, or in the one of v2 with the controllers that the kubelet wants. */
export async function ensureCgroup({ cgroup }: NodeLayout): Promise<void> {
  const unified = existsSync(join(root, 'cgroup.controllers'));
  if (unified) await enableControllers(root);
  for (const hierarchy of await hierarchies()) await mkdir(join(hierarchy, cgroup), { recursive: true });
  if (unified) await enableControllers(join(root, cgroup));
}

/** Once no process of the cluster is left. */
export async function removeCgroups(cluster: Layout): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const folder = join(hierarchy, nodeLayout(cluster, 1).cgroup);
    // The kernel releases a group a moment after its last process.
    const removed = async () => {
      await removeTree(folder);
      return true;
    };
    await pollUntil(`the removal of ${folder}`, removed, { timeoutMs: 10_000 });
  }
}

/** Its files cannot be removed and need not be: a group goes when it has no groups inside. */
async function removeTree(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  }
  await rmdir(folder);
}

async function hierarchies(): Promise<string[]> {
  if (existsSync(join(root, 'cgroup.controllers'))) return [root];
  const entries = await readdir(root, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(root, entry.name));
}

async function enableControllers(folder: string): Promise<void> {
  for (const controller of ['cpu', 'cpuset', 'io', 'memory', 'pids', 'hugetlb']) {
    // One that the machine lacks is for the kubelet to complain about.
    await writeFile(join(folder, 'cgroup.subtree_control'), `+${controller}`).catch(() => {});
  }
}
