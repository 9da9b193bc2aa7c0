/** One of our programs as a process of its own. It does not outlive the process that started it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pollUntil } from '../time/poll.ts';
import { programFile, type ProgramName } from './programFiles.ts';

export type ProgramOptions = {
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Arguments for Node itself, such as `--cpu-prof`. */
  nodeArgs?: string[];
  /**
   * A file to start in place of the program's. One that ends with `.sh` is a shell script.
   */
  program?: string;
  /** Arguments for the program. */
  args?: string[];
  /** True: it obeys the modes of files, also as root, as programs in pods do, which are not root. */
  obeysModes?: boolean;
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
  /** Resolves with its exit code; null when a signal ended it, or it could not be started. Never rejects. */
  ended: Promise<number | null>;
  /** Sends the signal, SIGTERM unless another is given, and waits for its end, which may have been before. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

const { PATH, NODE_COMPILE_CACHE } = process.env;
/** With the cache a program starts in less processor time. */
const OURS = { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };

/**
 * Starts a program with this environment and no other, but for `options.env`, the path and the cache of what
 * Node compiled.
 */
export function startProgram(
  name: ProgramName,
  env: Record<string, string>,
  {
    nodeArgs = [],
    program,
    args = [],
    obeysModes = false,
    log = [],
    errors,
    env: further,
  }: ProgramOptions = {},
): Program {
  const file = program ?? programFile(name);
  const command = file.endsWith('.sh') ? ['sh', file] : [process.execPath, ...nodeArgs, file];
  // The kernel ends it when this process ends, however it ends.
  const rights = obeysModes && process.getuid?.() === 0 ? ['--bounding-set', '-dac_override'] : [];
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', ...rights, ...command, ...args], {
    stdio: ['ignore', 'pipe', errors ? 'pipe' : 'inherit'],
    env: { ...OURS, ...env, ...further },
  });
  collectLines(child.stdout, log);
  if (errors) collectLines(child.stderr, errors);
  const ended = new Promise<number | null>((resolve) => {
    // After the last line of its log, which may come after its exit.
    child.once('close', resolve);
    child.once('error', (error) => {
      log.push(error.message);
      if (child.pid === undefined) resolve(null);
    });
  });
  return {
    pid: child.pid ?? 0,
    log,
    isRunning: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
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

const READY_WITHIN_MS = 50_000;

/**
 * Waits until the program listens, and then, with the line of its log that says where, for an answer of
 * `ready`, as `pollUntil` does. Where the program ends before, or does not come to that, nothing of it is
 * left, and the error has what it logged.
 */
export async function whenReady<Ready>(
  name: string,
  program: Program,
  ready: (line: string) => Promise<Ready | false> | Ready,
): Promise<Ready> {
  const gone = new AbortController();
  void program.ended.then((code) => gone.abort(new Error(`${name} ended with ${code}`)));
  const ask = () => {
    const line = program.log.find((text) => text.includes('"listening"'));
    return line !== undefined && ready(line);
  };
  try {
    const options = { timeoutMs: READY_WITHIN_MS, everyMs: 25, signal: gone.signal };
    return await pollUntil(`${name} being ready`, ask, options);
  } catch (cause) {
    await program.stop('SIGKILL');
    const said = program.log.slice(-20).join('\n');
    throw new Error(`${(cause as Error).message}; it logged:\n${said}`, { cause });
  }
}
