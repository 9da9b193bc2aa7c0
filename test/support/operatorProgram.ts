/** The operator as its program, with a real API server and a real run store behind it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pollUntil } from './poll.ts';

export type OperatorProgram = {
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
  /** What it has logged so far, a line each. */
  log: string[];
  pid: number;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
};

export type OperatorProgramOptions = {
  kubeconfigPath: string;
  redisURL: string;
  /** Its own and the gateway's. */
  namespace: string;
  env?: Record<string, string>;
  /** Arguments for Node itself, such as `--inspect`. */
  nodeArgs?: string[];
  /** A file to start in place of the sources, such as that of the image. */
  program?: string;
};

const source = fileURLToPath(new URL('../../operator/main.ts', import.meta.url));

/** Starts it and waits until it is ready, which it is when it has read everything that it follows. Throws with what it logged. */
export async function startOperatorProgram(options: OperatorProgramOptions): Promise<OperatorProgram> {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.program ?? source], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: options.kubeconfigPath,
      POD_NAME: 'operator-1',
      POD_NAMESPACE: options.namespace,
      PUBLIC_URL: 'https://hooks.example.com',
      REDIS_URL: options.redisURL,
      RUNNER_IMAGE: 'windlass:test',
      METRICS_PORT: '0',
      ...options.env,
    },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const log: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line));
  const stop = async () => {
    process.removeListener('exit', killWithUs);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  const ready = async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const line = log.find((text) => text.includes('"listening"'));
    if (line === undefined) return undefined;
    const { port } = JSON.parse(line) as { port: number };
    const url = `http://127.0.0.1:${port}`;
    return (await fetch(`${url}/readyz`)).ok && url;
  };
  try {
    const url = await pollUntil('the operator being ready', ready, { timeoutMs: 60_000, everyMs: 50 });
    return { url, log, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw new Error(`The operator did not become ready:\n${log.slice(-20).join('\n')}`, { cause: error });
  }
}
