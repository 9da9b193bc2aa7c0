/**
 * Writes what happened to runs into their WorkflowRun objects, within the write budget. It may be interrupted anywhere: what is
 * not recorded stays in the run store, and some recorder takes it up. While the API server is away it keeps trying, and
 * keeps what waits within each workflow's history.
 */
import { sleep } from '../../kube/clock.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ApiError, isTransient, isUnauthorized } from '../../kube/errors.ts';
import type { Log } from '../../kube/log.ts';
import { cancelRun } from '../cancel.ts';
import { isUnavailable, orUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { getRevision } from '../revisions.ts';
import { readBrief, readRun } from '../read.ts';
import type { RunState } from '../types.ts';
import { beginCreate, noteObject, undoCreate, type CreateAttempt } from './creation.ts';
import { forget, lease, postpone, quarantine, spend } from './backlog.ts';
import { recorded } from './recorded.ts';
import { createObject, writeStatus, type RecordTarget, type Written } from './object.ts';
import { nodeOrder } from './order.ts';
import { redactRun } from './redact.ts';
import { createSummarizer } from './summarize.ts';
import { costOf, byRecordPriority } from './priority.ts';

export type RecorderOptions = {
  conn: RunStoreConnection;
  kube: KubeClient;
  project: ProjectUid;
  namespace: string;
  log?: Log;
};

const BATCH = 100;
const CONCURRENCY = 8;
const IDLE_MS = 200;
/** What the budget does not pay for now is looked at again after this time, so that all get their turn. */
const UNPAID_MS = 1_000;
/** Before all that waits. */
const FIRST_MS = -3_600_000;
/** How often another run than the first is tried while the API server is away. */
const OTHER_EVERY = 10;
/** How often what waits is trimmed, and for how long after not all could be written. */
const TRIM_MS = 1_000;
const RESTRAINED_MS = 3_000;
/** So many runs in a row are refused alone; then it is the API server that refuses. */
const REFUSALS = 3;
const API_BACKOFF: Backoff = { initialMs: 500, factor: 2, maxMs: 10_000, jitter: 0.3 };

type Recorder = RecorderOptions & {
  /** Failures of the API server in a row, and until when it is left alone (on the monotonic clock). */
  failures: number;
  resumeAt: number;
  /** Runs refused in a row. */
  refusals: number;
  /** Since when it writes one batch; undefined between two. */
  busySince: number | undefined;
  /** Until when it counts as not being able to write all. */
  restrainedUntil: number;
};

/** Records the project's runs until the signal is aborted; what it has begun it ends. Several share the work. */
export function createRecorder(options: RecorderOptions): { run(signal: AbortSignal): Promise<void> } {
  const recorder: Recorder = {
    ...options,
    failures: 0,
    resumeAt: 0,
    refusals: 0,
    busySince: undefined,
    restrainedUntil: 0,
  };
  return {
    run: async (signal) => {
      // Whoever begins anew after a defect begins both: where one of them breaks off, the other ends.
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const loops = [keepRecording(recorder, until), keepTrimming(recorder, until)];
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

async function keepRecording(recorder: Recorder, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const goesOn = !isAway(recorder) && (await recordBatch(recorder));
    if (!goesOn) await sleep(IDLE_MS, signal);
  }
}

/** Apart from the writing, which a silent API server holds up. */
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
 * Takes what is behind, and deals with it. Answers with whether more of it can be dealt with at once: not where the budget is used
 * up, since to look through all that waits, again and again, would take more of the runner than its runs do.
 */
async function recordBatch(recorder: Recorder): Promise<boolean> {
  const { conn, project } = recorder;
  const store = await orUnavailable(() => conn.command('hget', keysOf(project).meta, 'id'));
  // After a failure one run finds out whether the API server is back.
  const names = await lease(conn, project, recorder.failures > 0 ? 1 : BATCH);
  if (isUnavailable(names) || typeof store !== 'string') return false;
  const states = await Promise.all(names.map((run) => readLeased(recorder, run)));
  const runs = byRecordPriority(states.filter((state) => state !== undefined));
  const affordable = await paidFor(recorder, runs);
  const rest = runs.slice(affordable);
  if (rest.length > 0) restrain(recorder, RESTRAINED_MS);
  await postpone(conn, project, rest, UNPAID_MS);
  recorder.busySince = performance.now();
  await forEachOf(runs.slice(0, affordable), CONCURRENCY, (state) => record(recorder, state, store));
  recorder.busySince = undefined;
  return names.length === BATCH && rest.length === 0;
}

function restrain(recorder: Recorder, forMs: number): void {
  recorder.restrainedUntil = Math.max(recorder.restrainedUntil, performance.now() + forMs);
}

async function paidFor({ conn, project }: Recorder, runs: RunState[]): Promise<number> {
  const paid = await spend(conn, project, runs.map(costOf));
  return isUnavailable(paid) ? 0 : paid;
}

async function readLeased({ conn, project }: Recorder, run: string): Promise<RunState | undefined> {
  const state = await readBrief(conn, project, run);
  if (state === undefined) await forget(conn, project, run);
  return isUnavailable(state) ? undefined : state;
}

/** Records one run; whatever fails, the run stays in the store and is taken up again. */
async function record(recorder: Recorder, brief: RunState, store: string): Promise<void> {
  const { conn, project } = recorder;
  if (isAway(recorder)) return postpone(conn, project, [brief], 0);
  const state = await readRun(conn, project, brief.run);
  if (state === undefined || isUnavailable(state)) return;
  try {
    await writeRecord(recorder, state, store);
    recorder.failures = 0;
    recorder.refusals = 0;
  } catch (error) {
    await dealWith(recorder, state, error);
  }
}

/** What the API server says of one run concerns that one alone, unless it says it of one after the other. */
async function dealWith(recorder: Recorder, state: RunState, error: unknown): Promise<void> {
  const isAnswer = error instanceof ApiError;
  if (isAnswer && (isTransient(error) || isUnauthorized(error))) {
    pause(recorder, state, error);
    // It may have its object now. Tried first again it is the only one of which that is not known; now and then another is.
    const isFirst = recorder.failures % OTHER_EVERY !== 0;
    return postpone(recorder.conn, recorder.project, [state], isFirst ? FIRST_MS : 0);
  }
  recorder.refusals += isAnswer ? 1 : 0;
  if (recorder.refusals >= REFUSALS) pause(recorder, state, error);
  const times = await quarantine(recorder.conn, state);
  if (times === 1) {
    recorder.log?.error(
      { run: state.run, error: String(error) },
      'a run cannot be recorded, it is put aside',
    );
  }
}

/** What was under way at the same time failed for the same reason: it counts once. */
function pause(recorder: Recorder, { run }: RunState, error: unknown): void {
  if (isAway(recorder)) return;
  recorder.failures += 1;
  const retryMs = backoffDelay(API_BACKOFF, recorder.failures);
  recorder.resumeAt = performance.now() + retryMs;
  restrain(recorder, retryMs + RESTRAINED_MS);
  recorder.log?.warn(
    { run, error: String(error), retryMs: Math.round(retryMs) },
    'runs cannot be recorded now',
  );
}

async function writeRecord(recorder: Recorder, whole: RunState, store: string): Promise<void> {
  const { conn, kube, namespace, project, log } = recorder;
  // Without it nobody knows what must not be recorded: the run stays in the store and is read again.
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
  if (written === 'bare')
    log?.error({ run: state.run }, 'the API server refuses what the nodes of a run produced');
  // Replaced once more: its lease ends, and the next attempt finds the object.
  if (typeof written === 'object') return;
  await recorded(conn, state, 'written');
}

/**
 * Writes the status into the object, and cancels the run where somebody deleted that: it is not made again. Two recorders may have
 * created an object each, one after the deletion of the other; then the one that is there gets the status, and is the run's from now on.
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
    log?.warn({ run }, 'run cannot have an object of its own; it is kept as a line in the run store');
  } catch (error) {
    if (error instanceof ApiError && isCertain(error)) await undoCreate(conn, state, attempt);
    throw error;
  }
  await undoCreate(conn, state, attempt);
  return undefined;
}

/** Whether nothing can have been made. */
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
