/** One of our programs as a process of its own. It does not outlive the process that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type ProgramOptions = {
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Arguments for Node itself, such as `--cpu-prof`. */
  nodeArgs?: string[];
  /** A file to start in place of the sources, such as that of the image. */
  program?: string;
  /** Gets what it logs, a line each, also before it is ready. */
  log?: string[];
  /** Gets what it writes to its standard error, a line each; otherwise that is shown. */
  errors?: string[];
};

export type Program = {
  pid: number;
  /** What it has logged so far, a line each. */
  log: string[];
  /** True until it has ended. */
  isRunning: () => boolean;
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves with its exit code; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Sends the signal, SIGTERM unless another is given, and waits for its end, which may have been before. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

/** Starts `main.ts` of a folder with this environment and no other, but for `options.env` and the path. */
export function startProgram(
  folder: 'gateway' | 'operator' | 'runner',
  env: Record<string, string>,
  { nodeArgs = [], program, log = [], errors, env: further }: ProgramOptions,
): Program {
  const file = program ?? fileURLToPath(new URL(`../../${folder}/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [...nodeArgs, file], {
    stdio: ['ignore', 'pipe', errors ? 'pipe' : 'inherit'],
    env: { PATH: process.env['PATH'], ...env, ...further },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  collectLines(child.stdout, log);
  if (errors) collectLines(child.stderr, errors);
  const ended = once(child, 'exit').then(([code]) => {
    process.removeListener('exit', killWithUs);
    return code as number | null;
  });
  return {
    pid: child.pid ?? 0,
    log,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (signal) => void child.kill(signal),
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

function collectLines(stream: NodeJS.ReadableStream | null, lines: string[]): void {
  if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
}

/** What the program said of itself when it began to listen; undefined before. Throws when it has ended. */
export async function listeningLine<Said>({ isRunning, log, ended }: Program): Promise<Said | undefined> {
  if (!isRunning()) throw new Error(`it ended with ${await ended}`);
  const line = log.find((text) => text.includes('"listening"'));
  return line === undefined ? undefined : (JSON.parse(line) as Said);
}
