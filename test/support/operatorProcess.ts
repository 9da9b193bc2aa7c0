/** The operator as a process of its own, against the API server and the run store of a stage. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type OperatorProcess = {
  pid: number;
  /** What it has logged so far, a line each. */
  log: string[];
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves with its exit code; null when a signal ended it. */
  ended: Promise<number | null>;
  /** Sends the signal and waits for its end. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

export type OperatorProcessOptions = {
  kubeconfigPath: string;
  redisURL: string;
  pod: string;
  namespace: string;
  /** Further environment variables. */
  env?: Record<string, string>;
};

const program = fileURLToPath(new URL('../../operator/main.ts', import.meta.url));

/** Starts it. It leads as soon as it may. */
export function startOperatorProcess(options: OperatorProcessOptions): OperatorProcess {
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      POD_NAME: options.pod,
      POD_NAMESPACE: options.namespace,
      KUBECONFIG: options.kubeconfigPath,
      REDIS_URL: options.redisURL,
      PUBLIC_URL: 'https://hooks.example.com',
      RUNNER_IMAGE: 'windlass:test',
      METRICS_PORT: '0',
      ...options.env,
    },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const log: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line));
  const ended = once(child, 'exit').then(([code]) => {
    process.removeListener('exit', killWithUs);
    return code as number | null;
  });
  return {
    pid: child.pid ?? 0,
    log,
    signal: (signal) => void child.kill(signal),
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}
