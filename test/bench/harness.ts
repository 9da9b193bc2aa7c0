/** The harness of the gateway's benchmarks: a gateway with one route, and a bare echo server beside it. */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openProject } from '../../runs/project.ts';
import { runCommand } from '../support/process/command.ts';
import {
  startGatewayHarness,
  PROJECT,
  putGithubKey,
  putRoute,
  type GatewayHarness,
} from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';

export const WORKFLOW = 'orders';
const SIGNED = 'signed';
const KEY = 'a key that sender and receiver share';
/** Enough for all events of one round. */
const QUOTA_BYTES = 8 * 2 ** 30;

/** No rewrite of the log falls into a round. */
export const STORE_CONFIG = ['auto-aof-rewrite-percentage 0'];

export type Harness = GatewayHarness & {
  /** The webhook's address. */
  hookURL: string;
  /** The address of another one, whose callers sign; `sign` makes the header. */
  signedURL: string;
  sign: (body: string) => Record<string, string>;
  echoURL: string;
  echoPid: number;
  /** The limits of the gateway, as it is told them. */
  limits: string;
  /** Forgets all events, so that every round finds the same store. */
  emptyStore: () => Promise<void>;
};

export type HarnessOptions = {
  reply: boolean;
  nodeArgs?: string[];
};

const UNLIMITED = { requestsPerSecond: 0 };
/** Of the gateway: calls come as fast as they can. */
const limits = JSON.stringify({ perRoute: UNLIMITED, perProject: UNLIMITED });

/** Starts all of it. The store syncs every write to the disk before it answers. */
export async function startHarness({ reply, nodeArgs = [] }: HarnessOptions): Promise<Harness> {
  const harness = await startGatewayHarness({
    nodeArgs,
    env: { LIMITS: limits },
    quotaBytes: QUOTA_BYTES,
    redisConfig: STORE_CONFIG,
  });
  try {
    const hookURL = harness.hook(WORKFLOW);
    await putRoute(harness.client, WORKFLOW, { webhook: { reply } });
    const signedURL = harness.hook(SIGNED);
    await putRoute(harness.client, SIGNED, await putGithubKey(harness.client, SIGNED, KEY));
    for (const url of [hookURL, signedURL])
      await pollUntil('the route being served', async () => (await fetch(url)).status === 405, {
        timeoutMs: 10_000,
      });
    const echo = await startEcho();
    const sign = (body: string) => {
      const signature = createHmac('sha256', KEY).update(body).digest('hex');
      return { 'X-Hub-Signature-256': `sha256=${signature}` };
    };
    const close = async () => {
      await echo.stop();
      await harness.close();
    };
    return {
      ...harness,
      hookURL,
      signedURL,
      sign,
      echoURL: echo.url,
      echoPid: echo.pid,
      limits,
      emptyStore: () => emptyStore(harness),
      close,
    };
  } catch (error) {
    await harness.close();
    throw error;
  }
}

/** Forgets all events, so that every round finds the same store. */
export async function emptyStore({ redis, runs }: Pick<Harness, 'redis' | 'runs'>): Promise<void> {
  await runCommand('redis-cli', ['-p', String(redis.port), 'flushall']);
  await openProject(runs, PROJECT, { quotaBytes: QUOTA_BYTES });
}

async function startEcho(): Promise<{ url: string; pid: number; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('echo.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return {
    url: `http://127.0.0.1:${port.trim()}/`,
    pid: child.pid ?? 0,
    stop: async () => {
      process.removeListener('exit', killWithUs);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
