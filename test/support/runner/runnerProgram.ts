/** The runner as its program, with a real API server and a real run store behind it. */
import { startProgram, whenReady, type Program, type ProgramOptions } from '../process/program.ts';

export type RunnerProgram = Program & {
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
};

export type RunnerProgramOptions = ProgramOptions & {
  kubeconfigPath: string;
  redisURL: string;
  namespace: string;
  project: string;
};

/** Starts it, and waits for nothing. */
export function startRunnerProcess({
  kubeconfigPath,
  redisURL,
  namespace,
  project,
  ...options
}: RunnerProgramOptions): Program {
  const env = {
    KUBECONFIG: kubeconfigPath,
    POD_NAME: 'runner-0',
    POD_NAMESPACE: namespace,
    PROJECT_UID: project,
    REDIS_URL: redisURL,
    METRICS_PORT: '0',
    GRACE_SECONDS: '6',
  };
  return startProgram('runner', env, options);
}

/** Starts it and waits until it listens; it may wait for its credentials then. */
export async function startRunnerProgram(options: RunnerProgramOptions): Promise<RunnerProgram> {
  const program = startRunnerProcess(options);
  const url = await whenReady('the runner', program, (line) => {
    const { metricsPort } = JSON.parse(line) as { metricsPort: number };
    return `http://127.0.0.1:${metricsPort}`;
  });
  return { ...program, url };
}
