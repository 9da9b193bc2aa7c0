/** A runner as a process of its own, for the project of the gateway's harness. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { NAMESPACE, PROJECT, type GatewayHarness } from '../support/gateway/gatewayHarness.ts';
import type { MountedAccount } from '../support/runner/mountedAccount.ts';

const program = fileURLToPath(new URL('../../runner/main.ts', import.meta.url));

export type RunnerProcess = { pid: number; stop: () => Promise<void> };

/** `file`: in place of the source. `account`: in place of a kubeconfig. */
type RunnerProcessOptions = { file?: string; account?: MountedAccount };

/** Starts it, and resolves when it claims runs. Throws, with what it logged, if it ends before. */
export async function startRunnerProcess(
  harness: GatewayHarness,
  nodeArgs: string[] = [],
  { file = program, account }: RunnerProcessOptions = {},
): Promise<RunnerProcess> {
  const child = spawn(process.execPath, [...nodeArgs, ...(account?.nodeArgs ?? []), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PROJECT_UID: PROJECT,
      POD_NAMESPACE: NAMESPACE,
      POD_NAME: 'runner-bench',
      ...(account?.env ?? { KUBECONFIG: harness.api.kubeconfigPath }),
      REDIS_URL: harness.redisURL,
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
    },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line);
      if (line.includes('"claiming runs"')) resolve();
    });
    child.once('exit', () => reject(new Error(`The runner ended:\n${log.slice(-20).join('\n')}`)));
  });
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      process.removeListener('exit', killWithUs);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
