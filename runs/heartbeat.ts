/**
 * The heartbeats of a runner: one counter for all its claims, written by a thread of its own, so that a busy
 * event loop does not stop it. The thread kills a process whose event loop has been stuck for a minute,
 * because its runs do not advance.
 */
import { Worker } from 'node:worker_threads';
import type { ProjectUid } from '../store/keys.ts';
import type { Pulse } from './pulse.ts';

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
  /** The same while the runner is idle and alone in its project; default: five times as long. */
  aloneEveryMs?: number;
  /** How long the event loop may be stuck before the process is killed; default 60,000 ms. */
  stuckAfterMs?: number;
};

/** The thread's data. `shared`: what the main thread tells it at any time. */
export type HeartbeatWorkerData = Required<
  Omit<HeartbeatOptions, 'worker' | 'username' | 'password' | 'caFile'>
> &
  Pick<HeartbeatOptions, 'username' | 'password' | 'caFile'> & { shared: Int32Array<SharedArrayBuffer> };

/**
 * Indexes of the shared memory: a count of the thread's messages that the main event loop has read; 1 while
 * runs are in flight.
 */
export const READ = 0;
export const BUSY = 1;

/** What the main thread orders. */
export type HeartbeatOrder = 'send' | 'stop';

/** What the thread says after each heartbeat; undefined where the run store did not answer. */
export type HeartbeatMessage = Pulse | undefined;

export type Heartbeats = {
  /** Calls `onPulse` with what each heartbeat finds. */
  follow(onPulse: (pulse: Pulse) => void): void;
  /** Sends a heartbeat now: another runner has begun to watch, or messages may have been lost. */
  send: () => void;
  /** Whether runs are in flight. A runner counts as busy until this is called. */
  setBusy(isBusy: boolean): void;
  /** Stops and removes the heartbeat. Hand back all claims before, or other runners take them over late. */
  stop(): Promise<void>;
};

const STOP_TIMEOUT_MS = 3_000;

/**
 * Sends a heartbeat every two seconds for all claims of the runner, from a worker thread, until it is
 * stopped. A runner that is idle and alone sends one every ten seconds.
 */
export function startHeartbeats({
  worker = new URL('./heartbeatWorker.ts', import.meta.url),
  everyMs = 2_000,
  aloneEveryMs = everyMs * 5,
  stuckAfterMs = 60_000,
  ...options
}: HeartbeatOptions): Heartbeats {
  const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  shared[BUSY] = 1;
  const workerData: HeartbeatWorkerData = { ...options, everyMs, aloneEveryMs, stuckAfterMs, shared };
  const thread = new Worker(worker, { workerData, execArgv: [] });
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  // A timer would wake an idle process more often.
  thread.on('message', () => void Atomics.add(shared, READ, 1));
  const order = (what: HeartbeatOrder) => thread.postMessage(what, []);
  return {
    follow: (onPulse) => void thread.on('message', (pulse: HeartbeatMessage) => pulse && onPulse(pulse)),
    send: () => order('send'),
    setBusy: (isBusy) => void Atomics.store(shared, BUSY, isBusy ? 1 : 0),
    stop: async () => {
      order('stop');
      const giveUp = setTimeout(() => void thread.terminate(), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(giveUp);
    },
  };
}
