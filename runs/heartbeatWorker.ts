/**
 * The thread of `runs/heartbeat.ts`. A bundle contains no file to start a thread from, so that this file is
 * bundled as an entry of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { sleep } from '../kube/clock.ts';
import { connectRunStore } from '../store/connection.ts';
import { sendHeartbeat, removeHeartbeat, type HeartbeatWorkerData } from './heartbeat.ts';

const { url, username, password, caFile, project, runner, everyMs, stuckAfterMs, turns } =
  workerData as HeartbeatWorkerData;

const stopping = new AbortController();
parentPort?.once('message', () => stopping.abort());

const conn = connectRunStore({
  url,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(caFile === undefined ? {} : { caFile }),
  name: `${runner}-heartbeat`,
});

/**
 * Heartbeats since the main event loop last turned. Counted, not timed: this process may have been suspended.
 */
let stuck = 0;
let seen = -1;
while (!stopping.signal.aborted) {
  const now = Atomics.load(turns, 0);
  stuck = now === seen ? stuck + 1 : 0;
  seen = now;
  // A stuck event loop handles no other signal.
  if (stuck * everyMs >= stuckAfterMs) process.kill(process.pid, 'SIGKILL');
  await sendHeartbeat(conn, project, runner);
  await sleep(everyMs, stopping.signal);
}
await removeHeartbeat(conn, project, runner);
await conn.close();
parentPort?.close();
