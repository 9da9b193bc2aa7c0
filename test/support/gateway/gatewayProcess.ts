/**
 * The gateway as a process of its own, on free ports of 127.0.0.1, with a real API server and a real run
 * store behind it.
 */
import { startProgram, whenReady, type Program, type ProgramOptions } from '../process/program.ts';

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

/** With what the chart has Node start it. */
export const GATEWAY_NODE_ARGS = [
  '--no-allocation-site-pretenuring',
  '--v8-pool-size=1',
  '--max-semi-space-size=16',
];

/** Starts it, and waits for nothing. */
export function startGatewayProcess({
  kubeconfigPath,
  redisURL,
  pod,
  namespace,
  nodeArgs = [],
  ...options
}: GatewayOptions): Program {
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
  return startProgram('gateway', env, { ...options, nodeArgs: [...GATEWAY_NODE_ARGS, ...nodeArgs] });
}

/** Starts it and waits until it is ready. Throws, with what it logged, if it does not become so. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const program = startGatewayProcess(options);
  const ports = await whenReady('the gateway', program, async (line) => {
    const said = JSON.parse(line) as Ports;
    // At the listener that never has TLS.
    const { ok } = await fetch(`${address(said.metricsPort)}/readyz`);
    return ok && said;
  });
  const scheme = (name: string) => (options.env?.[name] === undefined ? 'http' : 'https');
  return {
    ...program,
    publicURL: address(ports.publicPort, scheme('PUBLIC_TLS_DIR')),
    publicPort: ports.publicPort,
    internalURL: address(ports.internalPort, scheme('INTERNAL_TLS_DIR')),
    metricsURL: `${address(ports.metricsPort)}/metrics`,
  };
}

type Ports = { publicPort: number; internalPort: number; metricsPort: number };

const address = (port: number, scheme = 'http') => `${scheme}://127.0.0.1:${port}`;
