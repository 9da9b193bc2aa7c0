/**
 * The processes of a built-in cluster, which are processes of this machine: found by what they execute and by
 * the cluster that they belong to, so that they can be killed or stopped without asking the API server.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** What of Windlass and of the cluster can be killed. */
export const PROGRAMS = ['gateway', 'operator', 'runner', 'redis', 'kube-apiserver', 'etcd'] as const;
export type Program = (typeof PROGRAMS)[number];

export type FoundProcess = {
  pid: number;
  program: Program /** Of the pod, where it is in one. */;
  podUid?: string;
};

type Candidate = { pid: number; args: string[]; cgroups: string };

/**
 * The processes of that program in that cluster now. Runners are those of one project, since each project has
 * its own.
 */
export async function processesOf(
  cluster: string,
  program: Program,
  project?: string,
): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const candidate = await describe(Number(entry));
    if (!candidate || !isProgram(candidate, program, cluster)) continue;
    if (program === 'runner' && !(await isOfProject(candidate.pid, project))) continue;
    const podUid = podOf(candidate.cgroups);
    found.push({ pid: candidate.pid, program, ...(podUid !== undefined && { podUid }) });
  }
  return found;
}

/** Undefined for a process that has ended meanwhile, or has no command line. */
async function describe(pid: number): Promise<Candidate | undefined> {
  try {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    if (commandLine === '') return undefined;
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8');
    return { pid, args: commandLine.split('\0'), cgroups };
  } catch {
    return undefined;
  }
}

function isProgram({ args, cgroups }: Candidate, program: Program, cluster: string): boolean {
  const [first = '', ...others] = args;
  if (program === 'kube-apiserver' || program === 'etcd') {
    return basename(first) === program && args.some((arg) => arg.includes(`/clusters/${cluster}/`));
  }
  if (!cgroups.includes(`/windlass-${cluster}/`)) return false;
  // Redis writes its address into its title: `redis-server *:6379`.
  if (program === 'redis') return /^(\S*\/)?redis-server\b/.test(first);
  const script = others.find((arg) => !arg.startsWith('-'));
  return basename(first) === 'node' && script === `/app/${program}.mjs`;
}

async function isOfProject(pid: number, project: string | undefined): Promise<boolean> {
  if (project === undefined) return true;
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(`POD_NAMESPACE=${project}`);
}

/** The kubelet names the group of a pod after its uid; the driver of systemd with `_` for `-`. */
function podOf(cgroups: string): string | undefined {
  const found = /\/pod([0-9a-f]{8}[-_][0-9a-f_-]{27})/.exec(cgroups)?.[1];
  return found?.replaceAll('_', '-');
}
