/** What tests of the built-in cluster do to this machine, and what they see of it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { layOut } from '../../images/files.ts';
import { nodeFiles } from '../../images/rootfs.ts';
import { writeImage } from '../cluster/image-archive.ts';
import { runCommand } from '../support/process/command.ts';

/** Kills the one process whose command line, with a NUL after each argument, has the pattern. */
export async function kill(pattern: string): Promise<void> {
  const found = (await commandLines()).filter(({ line }) => new RegExp(pattern).test(line));
  expect(found).toHaveLength(1);
  for (const { pid } of found) process.kill(pid, 'SIGKILL');
}

async function commandLines(): Promise<{ pid: number; line: string }[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const read = async (pid: number) => ({
    pid,
    line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  });
  return Promise.all(pids.map(read));
}

export type MachineState = {
  processes: string[];
  mounts: string[];
  devices: string;
  rules: string;
  groups: string;
  files: string[];
};

/** What programs of nodes use unless they are told otherwise: whatever else tests install is no concern. */
const OF_NODES = /cni|containerd|containers|kube|netns|pods|windlass/;

/**
 * All that a cluster with that in its name could leave behind, but for what belongs to other clusters of this
 * machine.
 */
export async function machineState(name: string): Promise<MachineState> {
  const ours = (text: string) => text.includes(name);
  const isOfNodes = (text: string) => ours(text) || OF_NODES.test(text);
  const lines = async (command: string, args: string[]) => (await runCommand(command, args)).split('\n');
  return {
    processes: (await commandLines()).map(({ line }) => line).filter(ours),
    mounts: (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter(isOfNodes),
    devices: (await lines('ip', ['-brief', 'link'])).join('\n'),
    rules: (await lines('iptables-save', [])).filter((line) => !line.startsWith('#')).join('\n'),
    groups: (await lines('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `*${name}*`])).join('\n'),
    files: (await readdir('/run'))
      .concat(await readdir('/var/lib'), await readdir('/var/log'))
      .filter(isOfNodes),
  };
}

/** The archive of an image with Node.js as its program, made in the folder. */
export async function writeTestImage(folder: string, reference: string): Promise<string> {
  const root = join(folder, 'root');
  await layOut(await nodeFiles(), root);
  const archive = join(folder, 'image.tar');
  await writeImage({ root, entrypoint: ['/usr/local/bin/node'], reference }, archive);
  return archive;
}
