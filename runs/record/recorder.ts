/**
 * Records runs as WorkflowRun objects, within the write budget. It may stop anywhere: unrecorded runs stay in
 * the run store, and another recorder takes them. While the API server is unavailable it retries, and
 * summarizes runs beyond each workflow's history.
 */
import { isTerminal } from '../../api/phase.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { sleep } from '../../kube/clock.ts';
import { ApiError, isTransient, isUnauthorized } from '../../kube/errors.ts';
import type { Log } from '../../kube/log.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { cancelRun } from '../cancel.ts';
import { readBrief, readRun } from '../read.ts';
import { createPollingPace, type Pace } from '../pace.ts';
import { getRevision } from '../revisions.ts';
import type { RunState } from '../types/run.ts';
import { forget, lease, postpone, quarantine, spend } from './recordQueue.ts';
import { beginCreate, noteObject, undoCreate, type CreateAttempt } from './creation.ts';
import { createObject, writeStatus, type RecordTarget, type Written } from './object.ts';
import { nodeOrder } from './order.ts';
import { costOf, byRecordPriority } from './priority.ts';
import { recorded } from './recorded.ts';
import { redactRun } from './redact.ts';
import { admitUnfinished } from './unfinished.ts';
import { createSummarizer } from './summarize.ts';

export type RecorderOptions = {
  conn: RunStoreConnection;
  kube: KubeClient;
  project: ProjectUid;
  namespace: string;
  log?: Log;
};

const BATCH = 100;
const CONCURRENCY = 8;
/** Between two leases, where not all records are written, or of a busy runner. */
const IDLE_MS = 200;
/**
 * The delay of runs that the budget does not pay for now, so that all get their turn, of failed runs whose
 * error workflow has not been started, and of ends that replicas have not confirmed.
 */
const UNPAID_MS = 1_000;
/** A delay that puts a run before all others. */
const FIRST_MS = -3_600_000;
/** How often a run other than the first is tried while the API server is unavailable. */
const OTHER_EVERY = 10;
/**
 * How often unrecorded runs beyond the history are summarized, and for how long after the budget was short.
 */
const TRIM_MS = 1_000;
const RESTRAINED_MS = 3_000;
/** After so many refused runs in a row, the API server itself is the reason. */
const REFUSALS = 3;
const API_BACKOFF: Backoff = { initialMs: 500, factor: 2, maxMs: 10_000, jitter: 0.3 };

type Recorder = RecorderOptions & {
  /** Failures of the API server in a row, and until when it is not called (monotonic clock). */
  failures: number;
  resumeAt: number;
  /** Runs refused in a row. */
  refusals: number;
  /** Since when it writes a batch; undefined between two. */
  busySince: number | undefined;
  /** Until when the budget counts as short. */
  restrainedUntil: number;
};

/**
 * Records the project's runs until the signal is aborted, and finishes what it has begun. Several recorders
 * share the work. Without a pace it polls.
 */
export function createRecorder(options: RecorderOptions): {
  run(signal: AbortSignal, pace?: Pace): Promise<void>;
} {
  const recorder: Recorder = {
    ...options,
    failures: 0,
    resumeAt: 0,
    refusals: 0,
    busySince: undefined,
    restrainedUntil: 0,
  };
  return {
    run: async (signal, pace = createPollingPace()) => {
      // After a defect both loops restart: when one stops, the other ends.
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const loops = [keepRecording(recorder, until, pace), keepTrimming(recorder, until)];
      try {
        await Promise.all(loops);
      } finally {
        over.abort();
        await Promise.allSettled(loops);
        recorder.busySince = undefined;
      }
    },
  };
}

async function keepRecording(recorder: Recorder, signal: AbortSignal, pace: Pace): Promise<void> {
  const { conn, project } = recorder;
  const subscription = conn.subscriber().subscribe(keysOf(project).unrecorded, pace.raise);
  try {
    while (!signal.aborted) {
      const nextMs = isAway(recorder) ? recorder.resumeAt - performance.now() : await recordBatch(recorder);
      if (nextMs !== 0) await pace.wait({ busyMs: IDLE_MS, nextMs }, signal);
    }
  } finally {
    void subscription.then((it) => it.end());
  }
}

/** Separate from writing, which an API server without answers delays. */
async function keepTrimming(recorder: Recorder, signal: AbortSignal): Promise<void> {
  const trimmer = createSummarizer(recorder.conn, recorder.project);
  while (!signal.aborted) {
    if (isBehind(recorder)) await trimmer.trim();
    await sleep(TRIM_MS, signal);
  }
}

function isAway({ resumeAt }: Recorder): boolean {
  return performance.now() < resumeAt;
}

function isBehind({ restrainedUntil, busySince = Infinity }: Recorder): boolean {
  const now = performance.now();
  return now < restrainedUntil || now - busySince > TRIM_MS;
}

/**
 * Leases and records runs. Answers in how many milliseconds more can be recorded; undefined where nothing is
 * known to be behind. Not at once where the budget is used up, because reading all waiting runs again and
 * again would cost the runner more than its runs do.
 */
async function recordBatch(recorder: Recorder): Promise<number | undefined> {
  const { conn, project } = recorder;
  const store = await orUnavailable(() => conn.command('hget', keysOf(project).meta, 'id'));
  // After a failure one run tests whether the API server is available.
  const leased = await lease(conn, project, recorder.failures > 0 ? 1 : BATCH);
  if (isUnavailable(leased) || typeof store !== 'string') return IDLE_MS;
  const names = leased.runs;
  const states = await Promise.all(names.map((run) => readLeased(recorder, run)));
  const known = states.filter((state) => state !== undefined);
  const runs = byRecordPriority(await admitUnfinished(conn, project, known));
  const affordable = await paidFor(recorder, runs);
  const rest = runs.slice(affordable);
  if (rest.length > 0) restrain(recorder, RESTRAINED_MS);
  await postpone(conn, project, rest, UNPAID_MS);
  recorder.busySince = performance.now();
  await forEachOf(runs.slice(0, affordable), CONCURRENCY, (state) => record(recorder, state, store));
  recorder.busySince = undefined;
  if (names.length === BATCH && rest.length === 0) return 0;
  // Those that were leased may be behind again.
  if (names.length > 0) return IDLE_MS;
  return leased.nextMs === undefined ? undefined : Math.max(IDLE_MS, leased.nextMs);
}

function restrain(recorder: Recorder, forMs: number): void {
  recorder.restrainedUntil = Math.max(recorder.restrainedUntil, performance.now() + forMs);
}

async function paidFor({ conn, project }: Recorder, runs: RunState[]): Promise<number> {
  const paid = await spend(conn, project, runs.map(costOf));
  return isUnavailable(paid) ? 0 : paid;
}

/** Undefined if the run is not to be recorded now. */
async function readLeased({ conn, project }: Recorder, run: string): Promise<RunState | undefined> {
  const state = await readBrief(conn, project, run);
  if (state === undefined) await forget(conn, project, run);
  if (state === undefined || isUnavailable(state)) return undefined;
  if (!state.isUnreported) return state;
  await postpone(conn, project, [state], UNPAID_MS);
  return undefined;
}

/** Records one run. After any failure the run stays in the store and is leased again. */
async function record(recorder: Recorder, brief: RunState, store: string): Promise<void> {
  const { conn, project } = recorder;
  if (isAway(recorder)) return postpone(conn, project, [brief], 0);
  const state = await readDurable(recorder, brief);
  if (state === undefined) return;
  // Replicas may confirm it long before its lease ends.
  if (isUnavailable(state)) return postpone(conn, project, [brief], UNPAID_MS);
  // It failed since it was leased.
  if (state.isUnreported) return postpone(conn, project, [state], UNPAID_MS);
  try {
    await writeRecord(recorder, state, store);
    recorder.failures = 0;
    recorder.refusals = 0;
  } catch (error) {
    await dealWith(recorder, state, error);
  }
}

/**
 * Reads a run, and its end only once all replicas that may be promoted have it: after a failover without it,
 * another runner would execute a run that is recorded as ended. A run that has not ended is read whether or
 * not replicas confirm.
 */
async function readDurable(
  { conn, project }: Recorder,
  { run, phase }: RunState,
): Promise<RunState | Unavailable | undefined> {
  if (!isTerminal(phase)) {
    const state = await readRun(conn, project, run);
    if (state === undefined || isUnavailable(state) || !isTerminal(state.phase)) return state;
  }
  return orUnavailable(() => conn.replicated(project, () => readRun(conn, project, run)));
}

/** A refusal concerns one run alone, unless several runs in a row are refused. */
async function dealWith(recorder: Recorder, state: RunState, error: unknown): Promise<void> {
  const isAnswer = error instanceof ApiError;
  if (isAnswer && (isTransient(error) || isUnauthorized(error))) {
    pause(recorder, state, error);
    // Its object may exist now. The run is tried first again, so that it is the only one in doubt; now and
    // then another one is.
    const isFirst = recorder.failures % OTHER_EVERY !== 0;
    return postpone(recorder.conn, recorder.project, [state], isFirst ? FIRST_MS : 0);
  }
  recorder.refusals += isAnswer ? 1 : 0;
  if (recorder.refusals >= REFUSALS) pause(recorder, state, error);
  const times = await quarantine(recorder.conn, state);
  if (times === 1) {
    recorder.log?.error({ run: state.run, error: String(error) }, 'quarantined run that cannot be recorded');
  }
}

/** Concurrent failures have one reason: they count once. */
function pause(recorder: Recorder, { run }: RunState, error: unknown): void {
  if (isAway(recorder)) return;
  recorder.failures += 1;
  const retryMs = backoffDelay(API_BACKOFF, recorder.failures);
  recorder.resumeAt = performance.now() + retryMs;
  restrain(recorder, retryMs + RESTRAINED_MS);
  recorder.log?.warn(
    { run, error: String(error), retryMs: Math.round(retryMs) },
    'recording runs failed, retrying later',
  );
}

async function writeRecord(recorder: Recorder, whole: RunState, store: string): Promise<void> {
  const { conn, kube, namespace, project, log } = recorder;
  // Without the revision nobody knows what must not be recorded: the run stays in the store and is read
  // again.
  const revision = await getRevision(conn, project, whole.revision);
  if (isUnavailable(revision)) return;
  const state = redactRun(whole, revision);
  const target: RecordTarget = { kube, namespace, store };
  const known = state.recordedUid ?? state.recordUid;
  const attempt = known === undefined ? await beginCreate(conn, state) : undefined;
  if (known === undefined && attempt === undefined) return;
  const uid =
    attempt === undefined
      ? known
      : await makeObject(recorder, target, { state, input: whole.input }, attempt);
  if (uid === undefined) {
    await recorded(conn, state, 'written');
    return;
  }
  if (state.recordedUid === undefined) await noteObject(conn, state, uid);
  const written = await writeWhereItIs(recorder, target, { state, order: nodeOrder(revision) }, uid);
  if (written === 'bare') log?.error({ run: state.run }, 'recorded run without its nodes');
  // Replaced once more: its lease ends, and the next attempt finds the object.
  if (typeof written === 'object') return;
  await recorded(conn, state, 'written');
}

/**
 * Writes the status into the object, and cancels the run if somebody deleted that; it is not created again.
 * Two recorders may have created an object each, one after the deletion of the other: then the existing one
 * gets the status.
 */
async function writeWhereItIs(
  { conn, project }: Recorder,
  target: RecordTarget,
  { state, order }: { state: RunState; order: string[] },
  uid: string,
): Promise<Written> {
  const written = await writeStatus(target, state, uid, order);
  const isReplaced = typeof written === 'object';
  if (written === 'gone' || isReplaced) await cancelRun(conn, project, state.run);
  if (!isReplaced) return written;
  await noteObject(conn, state, written.replacedBy);
  return writeStatus(target, state, written.replacedBy, order);
}

/** The uid of the run's object; undefined where it can have none. */
async function makeObject(
  { conn, log }: Recorder,
  target: RecordTarget,
  { state, input }: { state: RunState; input: string },
  attempt: CreateAttempt,
): Promise<string | undefined> {
  try {
    const uid = await createObject(target, state, input);
    if (uid !== undefined) return uid;
    const { run } = state;
    log?.warn({ run }, 'keeping only summary of run');
  } catch (error) {
    if (error instanceof ApiError && isCertain(error)) await undoCreate(conn, state, attempt);
    throw error;
  }
  await undoCreate(conn, state, attempt);
  return undefined;
}

/** Whether certainly no object was created. */
function isCertain({ status, notSent }: ApiError): boolean {
  return notSent || (status >= 400 && status < 500 && status !== 408);
}

/** Calls `work` for each item, at most `width` at a time. */
async function forEachOf<T>(items: T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
