/** The gateway as a process of its own, on free ports of 127.0.0.1, with a real API server and a real run store behind it. */
import { pollUntil } from './poll.ts';
import { listeningLine, startProgram, type Program, type ProgramOptions } from './program.ts';

export type GatewayProcess = Program & {
  publicURL: string;
  publicPort: number;
  internalURL: string;
  metricsURL: string;
};

export type GatewayOptions = ProgramOptions & {
  kubeconfigPath: string;
  redisURL: string;
  pod: string;
  namespace: string;
};

/** Starts it and waits until it is ready. Throws, with what it logged, if it does not become so. */
export async function startGateway({
  kubeconfigPath,
  redisURL,
  pod,
  namespace,
  ...options
}: GatewayOptions): Promise<GatewayProcess> {
  const env = {
    POD_NAME: pod,
    POD_NAMESPACE: namespace,
    KUBECONFIG: kubeconfigPath,
    REDIS_URL: redisURL,
    BIND_ADDRESS: '127.0.0.1',
    PUBLIC_PORT: '0',
    INTERNAL_PORT: '0',
    METRICS_PORT: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
  };
  const program = startProgram('gateway', env, options);
  try {
    const ports = await untilReady(program);
    const url = (port: number) => `http://127.0.0.1:${port}`;
    return {
      ...program,
      publicURL: url(ports.publicPort),
      publicPort: ports.publicPort,
      internalURL: url(ports.internalPort),
      metricsURL: `${url(ports.metricsPort)}/metrics`,
    };
  } catch (error) {
    await program.stop('SIGKILL');
    const said = program.log.slice(-20).join('\n');
    throw new Error(`The gateway did not become ready:\n${said}`, { cause: error });
  }
}

type Ports = { publicPort: number; internalPort: number; metricsPort: number };

async function untilReady(program: Program): Promise<Ports> {
  const ports = await pollUntil('the gateway listening', () => listeningLine<Ports>(program), {
    timeoutMs: 20_000,
    everyMs: 20,
  });
  await pollUntil(
    'the gateway being ready',
    async () => (await fetch(`http://127.0.0.1:${ports.internalPort}/readyz`)).ok,
    { timeoutMs: 20_000, everyMs: 50 },
  );
  return ports;
}
