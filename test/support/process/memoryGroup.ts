/**
 * A control group with a limit on memory, as a container has one: what needs more is killed by the kernel.
 * Needs root.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pollUntil } from '../time/poll.ts';

export type MemoryGroup = {
  /** What the process takes from now on counts. */
  add(pid: number): Promise<void>;
  /** How many processes the kernel has killed here. */
  kills(): Promise<number>;
  /** Once no process is left in it. */
  remove(): Promise<void>;
};

const ROOT = '/sys/fs/cgroup';
let groups = 0;

/** Makes a group. Works with both versions of cgroups. */
export async function makeMemoryGroup(mebibytes: number): Promise<MemoryGroup> {
  const isUnified = existsSync(join(ROOT, 'cgroup.controllers'));
  if (isUnified) await writeFile(join(ROOT, 'cgroup.subtree_control'), '+memory');
  const name = `windlass-test-${process.pid}-${(groups += 1)}`;
  const folder = join(ROOT, isUnified ? '' : 'memory', name);
  await mkdir(folder);
  const limit = isUnified ? 'memory.max' : 'memory.limit_in_bytes';
  await writeFile(join(folder, limit), String(mebibytes * 2 ** 20));
  const events = isUnified ? 'memory.events' : 'memory.oom_control';
  return {
    add: (pid) => writeFile(join(folder, 'cgroup.procs'), String(pid)),
    kills: async () => Number(/^oom_kill (\d+)$/m.exec(await readFile(join(folder, events), 'utf8'))?.[1]),
    remove: async () => {
      // The kernel releases a group a moment after its last process.
      const removed = () => rmdir(folder).then(() => true);
      await pollUntil(`the removal of ${folder}`, removed, { timeoutMs: 10_000 });
    },
  };
}
