/** The operator as its program, with a real API server and a real run store behind it. */
import { startProgram, whenReady, type Program, type ProgramOptions } from '../process/program.ts';

export type OperatorProgram = Program & {
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
};

export type OperatorProgramOptions = ProgramOptions & {
  kubeconfigPath: string;
  redisURL: string;
  /** Who it is among those that may lead; default `operator-1`. */
  pod?: string;
  /** Its own and the gateway's. */
  namespace: string;
};

/** With what the chart has Node start it. */
export const OPERATOR_NODE_ARGS = ['--max-semi-space-size=16'];

/** Starts it, and waits for nothing. It leads as soon as it may. */
export function startOperatorProcess({
  kubeconfigPath,
  redisURL,
  pod = 'operator-1',
  namespace,
  nodeArgs = [],
  ...options
}: OperatorProgramOptions): Program {
  const env = {
    KUBECONFIG: kubeconfigPath,
    POD_NAME: pod,
    POD_NAMESPACE: namespace,
    PUBLIC_URL: 'https://hooks.example.com',
    REDIS_URL: redisURL,
    RUNNER_IMAGE: 'windlass:test',
    METRICS_PORT: '0',
    RUNNER_EGRESS_ALLOW: '127.0.0.0/8',
  };
  return startProgram('operator', env, { ...options, nodeArgs: [...OPERATOR_NODE_ARGS, ...nodeArgs] });
}

/**
 * Starts it and waits until it is ready, which it is when it has read everything that it follows. Throws with
 * what it logged.
 */
export async function startOperatorProgram(options: OperatorProgramOptions): Promise<OperatorProgram> {
  const program = startOperatorProcess(options);
  const url = await whenReady('the operator', program, async (line) => {
    const { port } = JSON.parse(line) as { port: number };
    const address = `http://127.0.0.1:${port}`;
    return (await fetch(`${address}/readyz`)).ok && address;
  });
  return { ...program, url };
}
