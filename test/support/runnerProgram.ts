/** The runner as its program, with a real API server and a real run store behind it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pollUntil } from './poll.ts';

export type RunnerProgram = {
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
  pid: number;
  /** What it has logged so far, a line each. */
  log: string[];
  /** True until it has ended. */
  isRunning(): boolean;
  /** Sends the signal, SIGTERM unless another is given, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
};

export type RunnerProgramOptions = {
  kubeconfigPath: string;
  redisURL: string;
  namespace: string;
  project: string;
  env?: Record<string, string>;
  /** Arguments for Node itself. */
  nodeArgs?: string[];
  /** Gets what it writes to its standard error, a line each; otherwise that is shown. */
  errors?: string[];
  /** A file to start in place of the sources, such as that of the image. */
  program?: string;
};

const source = fileURLToPath(new URL('../../runner/main.ts', import.meta.url));

/** Starts it and waits until it listens; it may wait for its credentials then. */
export async function startRunnerProgram(options: RunnerProgramOptions): Promise<RunnerProgram> {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.program ?? source], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: options.kubeconfigPath,
      POD_NAME: 'runner-0',
      POD_NAMESPACE: options.namespace,
      PROJECT_UID: options.project,
      REDIS_URL: options.redisURL,
      METRICS_PORT: '0',
      GRACE_SECONDS: '6',
      ...options.env,
    },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const { errors } = options;
  if (errors) createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  else child.stderr.pipe(process.stderr);
  const log: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const listening = await pollUntil(
    'the runner listening',
    () => log.find((line) => line.includes('"listening"')),
    { timeoutMs: 20_000, everyMs: 20 },
  );
  const { metricsPort } = JSON.parse(listening) as { metricsPort: number };
  return {
    url: `http://127.0.0.1:${metricsPort}`,
    pid: child.pid ?? 0,
    log,
    isRunning,
    stop: async (signal = 'SIGTERM') => {
      process.removeListener('exit', killWithUs);
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}
