/**
 * Builds the cluster's programs from Go modules into a cache folder of the user, once for each state of their
 * sources: complete or absent, never half, even when it is stopped in the middle or started twice.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommand, runCommand, type CommandOptions } from '../support/process/command.ts';
import { withLock } from '../support/process/lock.ts';
import { pollUntil } from '../support/time/poll.ts';
import { stepFailure, type Progress, type Update } from '../support/process/progress.ts';
import { readClusterConfig } from './config.ts';
import { writeProgramImage } from './image-archive.ts';

const kubernetesVersion = 'v1.34.4';
const twoWeeksMs = 14 * 24 * 3_600_000;
const sourceFolder = join(import.meta.dirname, 'binaries');
const packages = [
  './kubernetes',
  './coredns',
  './pause',
  './cluster-node',
  './cron',
  'helm.sh/helm/v3/cmd/helm',
];

/** The parts that are one program, called by different names. */
const kubernetesNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'storage',
];

/** The images that a cluster needs before any other, as archives in the folder of the programs. */
export const clusterImages = {
  pause: { program: 'pause', reference: 'localhost/windlass-cluster/pause:1', archive: 'pause.tar' },
  coredns: { program: 'coredns', reference: 'localhost/windlass-cluster/coredns:1', archive: 'coredns.tar' },
} as const;

/** The arguments of the one `go build` that makes everything. */
export function buildArguments(outputFolder: string): string[] {
  const version = 'k8s.io/component-base/version';
  const [major, minor] = kubernetesVersion.slice(1).split('.');
  const linked = [
    `-X ${version}.gitVersion=${kubernetesVersion}`,
    `-X ${version}.gitMajor=${major}`,
    `-X ${version}.gitMinor=${minor}`,
  ];
  return [
    'build',
    '-v',
    '-trimpath',
    '-ldflags',
    `-s -w ${linked.join(' ')}`,
    '-o',
    `${outputFolder}/`,
    ...packages,
  ];
}

/** A name for what a build of these sources with these arguments makes on this kind of machine. */
export function buildHash(
  sources: ReadonlyMap<string, string>,
  args: readonly string[],
  machine: string,
): string {
  const hash = createHash('sha256').update(JSON.stringify([machine, args, Object.keys(clusterImages)]));
  for (const [path, content] of [...sources].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path}\0${content.length}\0${content}`);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * The folder with etcd, kube-apiserver, kubectl, helm and the others, built when it is not there yet (five
 * minutes on two cores). Throws when Go is missing or the build fails, with the place of its log.
 */
export async function ensureBinaries(progress: Progress): Promise<string> {
  const binFolder = join(readClusterConfig().cacheFolder, 'bin');
  const machine = `${process.platform}-${process.arch}`;
  const folder = join(binFolder, buildHash(await readSources(sourceFolder), buildArguments('.'), machine));
  if (await isPresent(folder)) return folder;
  await mkdir(binFolder, { recursive: true });
  await progress.step('build the cluster programs from Go modules', async (update) => {
    const wait = () => update('waiting for another process that builds them');
    await withLock(join(binFolder, 'lock'), wait, async () => {
      if (await isPresent(folder)) return;
      await buildInto(folder, binFolder, update);
      await removeUnused(binFolder);
    });
  });
  return folder;
}

async function buildInto(folder: string, binFolder: string, update: Update): Promise<void> {
  await requireGo();
  await removeUnfinished(binFolder);
  const unfinished = await mkdtemp(join(binFolder, 'unfinished-'));
  const log = join(binFolder, 'build.log');
  await rm(log, { force: true });
  try {
    await compile(unfinished, log, update);
    for (const name of kubernetesNames) await symlink('kubernetes', join(unfinished, name));
    update('images of pause and CoreDNS');
    for (const { program, reference, archive } of Object.values(clusterImages)) {
      await writeProgramImage(join(unfinished, program), reference, join(unfinished, archive));
    }
    await rename(unfinished, folder);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    const remedy =
      'read the log; check that Go reaches its module proxy (go env GOPROXY) and that 3 GB of disk are free';
    throw stepFailure('the cluster programs could not be built', { cause, log, remedy });
  }
}

async function compile(outputFolder: string, log: string, update: Update): Promise<void> {
  const build = { cwd: sourceFolder, log };
  await goFetch({ ...build, update });
  update('reading packages');
  const total = (await runGo(['list', '-deps', ...packages], build)).trim().split('\n').length;
  let compiled = 0;
  // The first to be compiled are those of Go itself; what is in Go's own cache is not reported, so the count
  // may stay below.
  await runGo(buildArguments(outputFolder), {
    ...build,
    onLine: () => update(`${(compiled += 1)} of at most ${total} packages`),
  });
}

type Building = { cwd: string; log: string; update: Update };

/** Fetches the modules of the folder and builds. Throws when Go is missing, or the build fails. */
export async function goBuild({ args, ...building }: Building & { args: string[] }): Promise<void> {
  await requireGo();
  await goFetch(building);
  building.update('compiling');
  await runGo(args, building);
}

async function goFetch({ cwd, log, update }: Building): Promise<void> {
  update('fetching modules');
  const onLine = (line: string) => update(`fetching modules: ${fetched(line)}`);
  const fetchAll = () => runGo(['mod', 'download', '-x'], { cwd, log, onLine }).then(() => true);
  // One answer of hundreds that fails is no reason to fail, and what was fetched is kept.
  await pollUntil('fetching the modules', fetchAll, { timeoutMs: 30_000, everyMs: 5_000 });
}

/** Executes Go as all builds do, so that they share compiled packages. It ends with this process. */
export function runGo(args: string[], { cwd, log, onLine }: CommandOptions): Promise<string> {
  return runCommand(...endingWithUs('go', args), {
    env: goEnvironment(),
    timeoutMs: 3_600_000,
    ...(cwd && { cwd }),
    ...(log && { log }),
    ...(onLine && { onLine }),
  });
}

/**
 * A command line whose program ends when this process does: a build that nobody waits for would take both
 * cores for minutes.
 */
function endingWithUs(program: string, args: string[]): [string, string[]] {
  return process.platform === 'linux'
    ? ['setpriv', ['--pdeathsig', 'TERM', program, ...args]]
    : [program, args];
}

function fetched(line: string): string {
  return (
    line
      .match(/([^/]+\/[^/]+)\/@v\/([^ :]+)/)
      ?.slice(1)
      .join(' ') ?? ''
  );
}

/**
 * Without the debugging data, which the linker leaves out anyway, the compiler takes less processor time.
 */
function goEnvironment(): Record<string, string | undefined> {
  const flags = '-mod=readonly -buildvcs=false -gcflags=all=-dwarf=false';
  return { ...process.env, CGO_ENABLED: '0', GOFLAGS: flags, GOWORK: 'off' };
}

async function requireGo(): Promise<void> {
  if (await findCommand('go')) return;
  throw new Error(
    'Go is not installed, and the cluster programs are built with it. ' +
      'Install Go 1.24 or newer, or use an existing cluster with WINDLASS_CLUSTER=current.',
  );
}

/** What a build that was killed left behind: nobody else builds while we hold the lock. */
async function removeUnfinished(binFolder: string): Promise<void> {
  for (const name of await readdir(binFolder)) {
    if (name.startsWith('unfinished-')) await rm(join(binFolder, name), { recursive: true, force: true });
  }
}

async function readSources(folder: string): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    sources.set(path.slice(folder.length + 1), await readFile(path, 'utf8'));
  }
  return sources;
}

/** Whether it is there; looking counts as use. */
async function isPresent(folder: string): Promise<boolean> {
  const now = new Date();
  return utimes(folder, now, now).then(
    () => true,
    () => false,
  );
}

/** What other states of the sources made, and nobody has asked for in two weeks. */
async function removeUnused(binFolder: string): Promise<void> {
  for (const name of await readdir(binFolder)) {
    const { mtimeMs } = await stat(join(binFolder, name));
    if (/^[0-9a-f]{16}$/.test(name) && mtimeMs < Date.now() - twoWeeksMs) {
      await rm(join(binFolder, name), { recursive: true, force: true });
    }
  }
}
