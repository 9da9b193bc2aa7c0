/**
 * The heartbeat of a runner: one counter for all its claims, written by a thread of its own, so that a busy
 * event loop does not stop it. The thread kills a process whose event loop has been stuck for a minute,
 * because its runs do not advance.
 */
import { Worker } from 'node:worker_threads';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineScript } from '../store/script.ts';

export type HeartbeatOptions = {
  url: string;
  username?: string;
  password?: string;
  caFile?: string;
  project: ProjectUid;
  runner: string;
  /** The bundled `runs/heartbeatWorker.ts`; default: that file beside this one. */
  worker?: URL;
  /** Between two heartbeats; default 2,000 ms. */
  everyMs?: number;
  /** How long the event loop may be stuck before the process is killed; default 60,000 ms. */
  stuckAfterMs?: number;
};

/** The thread's data. `turns`: a count of turns of the main event loop, in shared memory. */
export type HeartbeatWorkerData = Required<
  Omit<HeartbeatOptions, 'worker' | 'username' | 'password' | 'caFile'>
> &
  Pick<HeartbeatOptions, 'username' | 'password' | 'caFile'> & { turns: Int32Array<SharedArrayBuffer> };

export type Heartbeats = {
  /** Stops and removes the heartbeat. Hand back all claims before, or other runners take them over late. */
  stop(): Promise<void>;
};

const TURN_MS = 1_000;
const STOP_TIMEOUT_MS = 3_000;

const BEAT = defineScript({
  flags: 'drains',
  keys: ['heartbeats'],
  args: ['runner'],
  answers: 'the counter',
  body: `return redis.call('HINCRBY', heartbeats, runner, 1)`,
});

/**
 * Sends a heartbeat every two seconds for all claims of the runner, from a worker thread, until it is
 * stopped.
 */
export function startHeartbeats({
  worker = new URL('./heartbeatWorker.ts', import.meta.url),
  everyMs = 2_000,
  stuckAfterMs = 60_000,
  ...options
}: HeartbeatOptions): Heartbeats {
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: HeartbeatWorkerData = { ...options, everyMs, stuckAfterMs, turns };
  const thread = new Worker(worker, { workerData, execArgv: [] });
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const turning = setInterval(() => Atomics.add(turns, 0, 1), TURN_MS);
  turning.unref();
  return {
    stop: async () => {
      clearInterval(turning);
      thread.postMessage('stop', []);
      const giveUp = setTimeout(() => void thread.terminate(), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(giveUp);
    },
  };
}

/** Sends one heartbeat. */
export function sendHeartbeat(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<number | Unavailable> {
  return orUnavailable(
    async () => (await conn.script(BEAT, [keysOf(project).heartbeats], [runner])) as number,
  );
}

/** Removes the heartbeat of a runner without claims. */
export async function removeHeartbeat(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<void> {
  await orUnavailable(() => conn.command('hdel', keysOf(project).heartbeats, runner));
}
