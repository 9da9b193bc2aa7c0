/** Schemathesis and a validator of OpenAPI documents: where they are, and how they are called. */
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readClusterConfig } from '../cluster/config.ts';
import { ensurePackages } from '../cluster/packages.ts';
import { runCommand, type CommandOptions } from '../support/process/command.ts';
import { withLock } from '../support/process/lock.ts';
import { stepFailure, type Progress } from '../support/process/progress.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');
const configuration = join(import.meta.dirname, 'schemathesis.toml');

/** Runs a module of the installed packages. */
export type Python = (module: string, args: string[], options?: CommandOptions) => Promise<string>;

/**
 * Installs what requirements.txt names into a folder of the user's cache, once for each state of that file.
 */
export async function preparePython(progress: Progress): Promise<Python> {
  await ensurePackages(['python3', 'python3-pip'], progress);
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .update(await runCommand('python3', ['--version']))
    .digest('hex');
  const parent = join(readClusterConfig().cacheFolder, 'python');
  const folder = join(parent, hash.slice(0, 16));
  const waiting = () => progress.say('› waiting for another installation of the Python packages');
  await withLock(join(parent, 'lock'), waiting, async () => {
    if (await isThere(folder)) return;
    await progress.step('install the Python packages of test/contract', () => install(parent, folder));
  });
  return (module, args, options = {}) =>
    runCommand('python3', ['-m', module, ...args], {
      ...options,
      env: { ...process.env, ...options.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
    });
}

/** The folder is there as a whole or not at all. */
async function install(parent: string, folder: string): Promise<void> {
  await mkdir(parent, { recursive: true });
  const unfinished = await mkdtemp(join(parent, 'unfinished-'));
  const quietly = ['--quiet', '--disable-pip-version-check', '--no-input'];
  try {
    const args = ['-m', 'pip', 'install', ...quietly, '--target', unfinished, '--requirement', requirements];
    await runCommand('python3', args, { timeoutMs: 600_000 });
    await rename(unfinished, folder);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    throw stepFailure('pip could not install the Python packages', {
      cause,
      remedy: 'check that pip reaches its package index, then try again',
    });
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export type Trial = {
  schema: string;
  url: string;
  /** The operations with this tag. */
  tag: string;
  /** The value of the Authorization header. */
  authorization?: string;
  phases: string[];
  /** Cases of an operation in one phase, where their number is not given by the description itself. */
  maxExamples: number;
  seed: number;
};

/**
 * Sends the cases of one seed and gives their number. Throws with the whole report when something was found.
 */
export async function tryContract(python: Python, trial: Trial): Promise<number> {
  const args = [
    '--config-file',
    configuration,
    '--no-color',
    'run',
    trial.schema,
    `--url=${trial.url}`,
    `--include-tag=${trial.tag}`,
    `--phases=${trial.phases.join(',')}`,
    `--max-examples=${trial.maxExamples}`,
    `--seed=${trial.seed}`,
    '--continue-on-failure',
    // CI leaves it little of the processors' time.
    '--request-timeout=60',
    ...(trial.authorization === undefined ? [] : ['--header', `Authorization: ${trial.authorization}`]),
  ];
  const lines: string[] = [];
  try {
    await python('schemathesis.cli', args, { timeoutMs: 3_600_000, onLine: (line) => lines.push(line) });
  } catch (error) {
    throw new Error(`Schemathesis has findings:\n${lines.join('\n')}`, { cause: error });
  }
  const generated = /^\s*(\d+) generated/m.exec(lines.join('\n'))?.[1];
  if (generated === undefined) throw new Error(`Schemathesis sent nothing:\n${lines.join('\n')}`);
  return Number(generated);
}
