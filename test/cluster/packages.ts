/** Installs the Debian packages that a program needs and the machine lacks; nothing of them is started. */
import { access, rm, writeFile } from 'node:fs/promises';
import { findCommand, runCommand } from '../support/process/command.ts';
import { stepFailure, type Progress } from '../support/process/progress.ts';

/**
 * Each package and what shows that it, or another that brings the same, is there: a program on PATH or a
 * file.
 */
const signs = {
  buildah: 'buildah',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  conntrack: 'conntrack',
  containerd: 'containerd',
  'containernetworking-plugins': '/usr/lib/cni/bridge',
  'dovecot-imapd': '/usr/lib/dovecot/imap',
  fish: 'fish',
  ipset: 'ipset',
  iproute2: 'ip',
  iptables: 'iptables',
  python3: 'python3',
  // Whatever brings pip brings this program.
  'python3-pip': 'pip3',
  'redis-server': 'redis-server',
  runc: 'runc',
  socat: 'socat',
  wrk: 'wrk',
  zsh: 'zsh',
} as const;

export type DebianPackage = keyof typeof signs;

/** What the built-in cluster runs on, and what builds its images. */
export const clusterPackages: readonly DebianPackage[] = [
  'buildah',
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'ipset',
  'iproute2',
  'iptables',
  'runc',
  'socat',
];

const searchPath = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`;
const policyFile = '/usr/sbin/policy-rc.d';

/** Those of the packages that the machine lacks. */
async function missingPackages(wanted: readonly DebianPackage[]): Promise<DebianPackage[]> {
  const present = await Promise.all(wanted.map((name) => isPresent(signs[name])));
  return wanted.filter((_, index) => !present[index]);
}

/** Says which packages are missing and installs them. Throws when that needs root or apt-get, or fails. */
export async function ensurePackages(wanted: readonly DebianPackage[], progress: Progress): Promise<void> {
  const missing = await missingPackages(wanted);
  if (missing.length === 0) return;
  const command = `apt-get install ${missing.join(' ')}`;
  if (process.getuid?.() !== 0 || !(await findCommand('apt-get'))) {
    throw new Error(`These Debian packages are missing: ${missing.join(', ')}. As root: ${command}`);
  }
  progress.say(`› installing Debian packages with apt-get: ${missing.join(', ')}`);
  await progress.step('install Debian packages', async (update) => {
    try {
      await withoutServices(() => install(missing, update));
    } catch (cause) {
      throw stepFailure('apt-get failed', {
        cause,
        remedy: `make this work, then try again: apt-get update && ${command}`,
      });
    }
  });
  const still = await missingPackages(wanted);
  if (still.length > 0)
    throw new Error(`apt-get installed ${still.join(', ')}, but the programs are not there`);
}

async function install(packages: readonly string[], update: (detail: string) => void): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, timeoutMs: 900_000, onLine: (line: string) => update(line.slice(0, 70)) };
  // Another apt-get may be at work, such as the daily one: wait for its lock. And a mirror may fail once.
  const patient = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3'];
  await runCommand('apt-get', [...patient, 'update'], options);
  await runCommand(
    'apt-get',
    [...patient, 'install', '--yes', '--no-install-recommends', ...packages],
    options,
  );
}

/** Debian starts services when it installs them, unless this file says that it must not. */
async function withoutServices(work: () => Promise<void>): Promise<void> {
  const ours = await writeFile(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  try {
    await work();
  } finally {
    if (ours) await rm(policyFile, { force: true });
  }
}

async function isPresent(sign: string): Promise<boolean> {
  if (sign.startsWith('/')) {
    return access(sign).then(
      () => true,
      () => false,
    );
  }
  return (await findCommand(sign, searchPath)) !== undefined;
}
