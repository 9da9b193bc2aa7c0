/** The gateway as a process of its own, on free ports of 127.0.0.1, with a real API server and a real run store behind it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pollUntil } from './poll.ts';

export type GatewayProcess = {
  publicURL: string;
  publicPort: number;
  internalURL: string;
  metricsURL: string;
  pid: number;
  /** What it has logged so far, a line each. */
  log: string[];
  /** Sends the signal and resolves with the exit code when it has ended; null when a signal ended it. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
};

export type GatewayOptions = {
  kubeconfigPath: string;
  redisURL: string;
  pod: string;
  namespace: string;
  /** Gets what it logs, a line each, also before it is ready. */
  log?: string[];
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Arguments for Node itself, such as `--cpu-prof`. */
  nodeArgs?: string[];
  /** Gets what it writes to its standard error, a line each; otherwise that is shown. */
  errors?: string[];
  /** A file to start in place of the sources, such as that of the image. */
  program?: string;
};

const source = fileURLToPath(new URL('../../gateway/main.ts', import.meta.url));

/** Starts it and waits until it is ready. Throws, with what it logged, if it does not become so. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), options.program ?? source], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      POD_NAME: options.pod,
      POD_NAMESPACE: options.namespace,
      KUBECONFIG: options.kubeconfigPath,
      REDIS_URL: options.redisURL,
      BIND_ADDRESS: '127.0.0.1',
      PUBLIC_PORT: '0',
      INTERNAL_PORT: '0',
      METRICS_PORT: '0',
      DRAIN_SECONDS: '0',
      LOG_LEVEL: 'info',
      ...options.env,
    },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const { errors } = options;
  if (errors) createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  else child.stderr.pipe(process.stderr);
  const log = options.log ?? [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    process.removeListener('exit', killWithUs);
    return end(child, signal);
  };
  try {
    const ports = await untilReady(child, log);
    const url = (port: number) => `http://127.0.0.1:${port}`;
    return {
      publicURL: url(ports.publicPort),
      publicPort: ports.publicPort,
      internalURL: url(ports.internalPort),
      metricsURL: `${url(ports.metricsPort)}/metrics`,
      pid: child.pid ?? 0,
      log,
      stop,
    };
  } catch (error) {
    await stop('SIGKILL');
    throw new Error(`The gateway did not become ready:\n${log.slice(-20).join('\n')}`, { cause: error });
  }
}

type Ports = { publicPort: number; internalPort: number; metricsPort: number };

async function untilReady(child: ChildProcess, log: string[]): Promise<Ports> {
  const listening = await pollUntil(
    'the gateway listening',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      return log.find((line) => line.includes('"listening"'));
    },
    { timeoutMs: 20_000, everyMs: 20 },
  );
  const ports = JSON.parse(listening) as Ports;
  await pollUntil(
    'the gateway being ready',
    async () => (await fetch(`http://127.0.0.1:${ports.internalPort}/readyz`)).ok,
    { timeoutMs: 20_000, everyMs: 50 },
  );
  return ports;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}
