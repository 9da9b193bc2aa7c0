/** What the benchmarks of the door run against: the door with one route, and a bare echo beside it. */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openProject } from '../../runs/project.ts';
import { runCommand } from '../support/process/command.ts';
import { openDoor, PROJECT, putGithubKey, putRoute, type Door } from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';

export const WORKFLOW = 'orders';
const SIGNED = 'signed';
const KEY = 'a key that sender and receiver share';
/** Enough for all events of one round. */
const QUOTA_BYTES = 8 * 2 ** 30;

export type Stage = Door & {
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

export type StageOptions = {
  reply: boolean;
  nodeArgs?: string[];
};

const UNLIMITED = { requestsPerSecond: 0 };
/** Of the gateway: calls come as fast as they can. */
const limits = JSON.stringify({ perRoute: UNLIMITED, perProject: UNLIMITED });

/** Starts all of it. The store syncs every write to the disk before it answers. */
export async function setStage({ reply, nodeArgs = [] }: StageOptions): Promise<Stage> {
  const door = await openDoor({
    nodeArgs,
    env: { LIMITS: limits },
    quotaBytes: QUOTA_BYTES,
    redisConfig: ['auto-aof-rewrite-percentage 0'],
  });
  try {
    const hookURL = door.hook(WORKFLOW);
    await putRoute(door.client, WORKFLOW, { webhook: { reply } });
    const signedURL = door.hook(SIGNED);
    await putRoute(door.client, SIGNED, await putGithubKey(door.client, SIGNED, KEY));
    for (const url of [hookURL, signedURL])
      await pollUntil('the route being served', async () => (await fetch(url)).status === 405, {
        timeoutMs: 10_000,
      });
    const echo = await startEcho();
    const emptyStore = async () => {
      await runCommand('redis-cli', ['-p', String(door.redis.port), 'flushall']);
      await openProject(door.runs, PROJECT, { quotaBytes: QUOTA_BYTES });
    };
    const sign = (body: string) => {
      const signature = createHmac('sha256', KEY).update(body).digest('hex');
      return { 'X-Hub-Signature-256': `sha256=${signature}` };
    };
    const close = async () => {
      await echo.stop();
      await door.close();
    };
    return {
      ...door,
      hookURL,
      signedURL,
      sign,
      echoURL: echo.url,
      echoPid: echo.pid,
      limits,
      emptyStore,
      close,
    };
  } catch (error) {
    await door.close();
    throw error;
  }
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
