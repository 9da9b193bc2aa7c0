/**
 * The thread of `runs/heartbeat.ts`. A bundle contains no file to start a thread from, so that this file is
 * bundled as an entry of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { garbageCollection } from '../kube/garbageCollection.ts';
import { connectRunStore, isUnavailable } from '../store/connection.ts';
import { createSignal } from '../store/signal.ts';
import {
  BUSY,
  READ,
  type HeartbeatMessage,
  type HeartbeatOrder,
  type HeartbeatWorkerData,
} from './heartbeat.ts';
import { removeHeartbeat, sendPulse } from './pulse.ts';

const { url, username, password, caFile, project, runner, everyMs, aloneEveryMs, stuckAfterMs, shared } =
  workerData as HeartbeatWorkerData;

const ordered = createSignal();
const stopping = new AbortController();
parentPort?.on('message', (order: HeartbeatOrder) => {
  if (order === 'stop') stopping.abort();
  ordered.raise();
});

const conn = connectRunStore({
  url,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(caFile === undefined ? {} : { caFile }),
  name: `${runner}-heartbeat`,
});

/** Sends a heartbeat. Answers in how many milliseconds the next one is due. */
async function beat(): Promise<number> {
  const sent = await sendPulse(conn, project, runner);
  const message: HeartbeatMessage = isUnavailable(sent) ? undefined : sent.pulse;
  // Also without a pulse: reading it shows that the main event loop turns.
  parentPort?.postMessage(message, []);
  if (isUnavailable(sent)) return everyMs;
  const { runners, hasReady, hasClaims } = sent.pulse;
  const isIdle = Atomics.load(shared, BUSY) === 0 && !hasReady;
  // The claims of an idle runner are those of others, or of a run that has just begun.
  return isIdle && runners === 1 && !hasClaims ? aloneEveryMs : everyMs;
}

/**
 * For how long the main event loop has not turned, as far as this thread has seen: a wait counts as long as
 * it should have been at most, because the process may have been suspended.
 */
let stuckMs = 0;
let readBefore = -1;
let waitMs = 0;
/** Once: what the modules of the thread left. From then on it allocates too little for V8 to collect it. */
let collectGarbage = garbageCollection();
for (let wokenAt = performance.now(); !stopping.signal.aborted; ) {
  const read = Atomics.load(shared, READ);
  const now = performance.now();
  stuckMs = read === readBefore ? stuckMs + Math.min(now - wokenAt, waitMs) : 0;
  readBefore = read;
  wokenAt = now;
  // A stuck event loop handles no other signal.
  if (stuckMs >= stuckAfterMs) process.kill(process.pid, 'SIGKILL');
  waitMs = await beat();
  collectGarbage?.();
  collectGarbage = undefined;
  await ordered.wait(waitMs);
}
await removeHeartbeat(conn, project, runner);
await conn.close();
parentPort?.close();
