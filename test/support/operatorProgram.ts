/** The operator as its program, with a real API server and a real run store behind it. */
import { pollUntil } from './poll.ts';
import { listeningLine, startProgram, type Program, type ProgramOptions } from './program.ts';

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

/** Starts it, and waits for nothing. It leads as soon as it may. */
export function startOperatorProcess({
  kubeconfigPath,
  redisURL,
  pod = 'operator-1',
  namespace,
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
  };
  return startProgram('operator', env, options);
}

/** Starts it and waits until it is ready, which it is when it has read everything that it follows. Throws with what it logged. */
export async function startOperatorProgram(options: OperatorProgramOptions): Promise<OperatorProgram> {
  const program = startOperatorProcess(options);
  const ready = async () => {
    const said = await listeningLine<{ port: number }>(program);
    if (said === undefined) return undefined;
    const url = `http://127.0.0.1:${said.port}`;
    return (await fetch(`${url}/readyz`)).ok && url;
  };
  try {
    const url = await pollUntil('the operator being ready', ready, { timeoutMs: 60_000, everyMs: 50 });
    return { ...program, url };
  } catch (error) {
    await program.stop();
    const said = program.log.slice(-20).join('\n');
    throw new Error(`The operator did not become ready:\n${said}`, { cause: error });
  }
}
