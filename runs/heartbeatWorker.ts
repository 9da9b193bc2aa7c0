/** The thread that beats: see `runs/heartbeat.ts`. A program's second entry, since a bundle has no file to start it from. */
import { parentPort, workerData } from 'node:worker_threads';
import { sleep } from '../kube/clock.ts';
import { beat, removeBeat, type BeatWorkerData } from './heartbeat.ts';
import { connectRunStore } from '../store/connection.ts';

const { url, username, password, caFile, project, runner, everyMs, stuckAfterMs, turns } =
  workerData as BeatWorkerData;

const stopping = new AbortController();
parentPort?.once('message', () => stopping.abort());

const conn = connectRunStore({
  url,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(caFile === undefined ? {} : { caFile }),
  name: `${runner}-beat`,
});

/** Looks in which the main event loop had not turned. Counted, not timed: this process may have been suspended. */
let still = 0;
let seen = -1;
while (!stopping.signal.aborted) {
  const now = Atomics.load(turns, 0);
  still = now === seen ? still + 1 : 0;
  seen = now;
  // Nothing gentler would be heard: what runs is not the event loop.
  if (still * everyMs >= stuckAfterMs) process.kill(process.pid, 'SIGKILL');
  await beat(conn, project, runner);
  await sleep(everyMs, stopping.signal);
}
await removeBeat(conn, project, runner);
await conn.close();
parentPort?.close();
