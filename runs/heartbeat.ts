/**
 * The sign of life of a runner: one counter for all its claims, from a thread of its own, so that a busy event loop is not
 * death. A process whose event loop has not turned for a minute is ended by that thread, because its runs are not going on.
 */
import { Worker } from 'node:worker_threads';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineScript } from '../store/script.ts';

export type BeatOptions = {
  url: string;
  username?: string;
  password?: string;
  caFile?: string;
  project: ProjectUid;
  runner: string;
  /** The bundled `runs/heartbeatWorker.ts`; default: that file beside this one. */
  worker?: URL;
  /** Between two beats; default 2,000 ms. */
  everyMs?: number;
  /** How long the event loop may stand still before the process is ended; default 60,000 ms. */
  stuckAfterMs?: number;
};

/** What the thread is given. `turns` counts the turns of the main event loop, in shared memory. */
export type BeatWorkerData = Required<Omit<BeatOptions, 'worker' | 'username' | 'password' | 'caFile'>> &
  Pick<BeatOptions, 'username' | 'password' | 'caFile'> & { turns: Int32Array<SharedArrayBuffer> };

export type Beats = {
  /** Stops beating and removes the beat. Hand back all claims before, or others will wait for their turn to take over. */
  stop(): Promise<void>;
};

const TURN_MS = 1_000;
const STOP_TIMEOUT_MS = 3_000;

const BEAT = defineScript({
  flags: 'drains',
  keys: ['beats'],
  args: ['runner'],
  body: `return redis.call('HINCRBY', beats, runner, 1)`,
});

/** Beats every two seconds for all claims of the runner, from a worker thread, until it is stopped. */
export function startBeats({
  worker = new URL('./heartbeatWorker.ts', import.meta.url),
  everyMs = 2_000,
  stuckAfterMs = 60_000,
  ...options
}: BeatOptions): Beats {
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: BeatWorkerData = { ...options, everyMs, stuckAfterMs, turns };
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

/** One beat. */
export function beat(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<number | Unavailable> {
  return orUnavailable(async () => (await conn.script(BEAT, [keysOf(project).beats], [runner])) as number);
}

/** Removes the beat of a runner that holds nothing any more. */
export async function removeBeat(
  conn: RunStoreConnection,
  project: ProjectUid,
  runner: string,
): Promise<void> {
  await orUnavailable(() => conn.command('hdel', keysOf(project).beats, runner));
}
