/**
 * Writes what happened to runs into their WorkflowRun objects, within the write budget. It may be interrupted anywhere: what is
 * not recorded stays in the run store, and some recorder takes it up. While the API server is away it keeps trying, and
 * keeps what waits within each workflow's history.
 */
import { isTerminal } from '../../api/run.ts';
import { sleep } from '../../kube/clock.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ApiError } from '../../kube/errors.ts';
import type { Log } from '../../kube/log.ts';
import { cancelRun } from '../cancel.ts';
import { isUnavailable, orUnavailable, type RunStoreConnection } from '../connection.ts';
import { keysOf } from '../keys.ts';
import { getRevision } from '../project.ts';
import { readBrief, readRun } from '../read.ts';
import type { ProjectUid, RunState } from '../types.ts';
import { forget, lease, noteObject, postpone, putBack, recorded, spend } from './backlog.ts';
import { createObject, writeStatus, type RecordTarget } from './object.ts';
import { costOf, inOrderOfWorth } from './worth.ts';

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
/**
 * When not all can be written, runs are looked at only when they have waited so long: then those that waited before are
 * looked at first, and of what is too many the oldest goes.
 */
const RESTRAINED_AGE_MS = 1_000;
const RESTRAINED_MS = 2_000;
const DEFECT_MS = 30_000;
const API_BACKOFF: Backoff = { initialMs: 500, factor: 2, maxMs: 10_000, jitter: 0.3 };

type Recorder = RecorderOptions & {
  /** Failures of the API server in a row, and until when it is left alone (on the monotonic clock). */
  failures: number;
  resumeAt: number;
  /** Until when it counts as not being able to write all. */
  restrainedUntil: number;
};

/** Records the project's runs until the signal is aborted; what it has begun it ends. Several share the work. */
export function createRecorder(options: RecorderOptions): { run(signal: AbortSignal): Promise<void> } {
  const recorder: Recorder = { ...options, failures: 0, resumeAt: 0, restrainedUntil: 0 };
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const taken = await recordBatch(recorder);
        if (taken < BATCH) await sleep(IDLE_MS, signal);
      }
    },
  };
}

/** Takes what is behind, and deals with it; answers with how much that was. */
async function recordBatch(recorder: Recorder): Promise<number> {
  const { conn, project } = recorder;
  const away = performance.now() < recorder.resumeAt;
  const restrained = away || performance.now() < recorder.restrainedUntil;
  const store = await orUnavailable(() => conn.command('hget', keysOf(project).meta, 'id'));
  const names = await lease(conn, project, BATCH, restrained ? RESTRAINED_AGE_MS : 0);
  if (isUnavailable(names) || typeof store !== 'string') return 0;
  const states = await Promise.all(names.map((run) => readLeased(recorder, run)));
  const runs = inOrderOfWorth(states.filter((state) => state !== undefined));
  const affordable = away ? 0 : await paidFor(recorder, runs);
  const rest = runs.slice(affordable);
  if (rest.length > 0) recorder.restrainedUntil = performance.now() + RESTRAINED_MS;
  await Promise.all(rest.map((state) => leaveOut(recorder, state, restrained)));
  await forEachOf(runs.slice(0, affordable), CONCURRENCY, (state) => record(recorder, state, store));
  return names.length;
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

/** Cannot be written now: it waits, or, where its workflow has more than enough that waits, is kept as a line only. */
async function leaveOut({ conn }: Recorder, state: RunState, mayGo: boolean): Promise<void> {
  const hasObject = (state.recordedUid ?? state.recordUid) !== undefined;
  if (mayGo && isTerminal(state.phase) && !hasObject) await recorded(conn, state, 'surplus');
  else await putBack(conn, state);
}

/** Records one run; whatever fails, the run stays in the store and is taken up again. */
async function record(recorder: Recorder, brief: RunState, store: string): Promise<void> {
  if (performance.now() < recorder.resumeAt) return leaveOut(recorder, brief, false);
  const { conn, project } = recorder;
  const state = await readRun(conn, project, brief.run);
  if (state === undefined || isUnavailable(state)) return;
  try {
    await writeRecord(recorder, state, store);
    recorder.failures = 0;
  } catch (error) {
    await backOff(recorder, state, error);
  }
}

/** A failure of the API server concerns all runs, any other this one alone. */
async function backOff(recorder: Recorder, state: RunState, error: unknown): Promise<void> {
  const { conn, log } = recorder;
  const { run } = state;
  if (!(error instanceof ApiError)) {
    log?.error({ run, error: String(error) }, 'run could not be recorded');
    return postpone(conn, state, DEFECT_MS);
  }
  // What was under way at the same time failed for the same reason: it counts once.
  if (performance.now() >= recorder.resumeAt) {
    recorder.failures += 1;
    const retryMs = backoffDelay(API_BACKOFF, recorder.failures);
    recorder.resumeAt = performance.now() + retryMs;
    log?.warn({ run, error: error.message, retryMs: Math.round(retryMs) }, 'runs cannot be recorded now');
  }
  await leaveOut(recorder, state, false);
}

async function writeRecord(recorder: Recorder, state: RunState, store: string): Promise<void> {
  const { conn, kube, namespace, project, log } = recorder;
  const target: RecordTarget = { kube, namespace, store };
  const uid = state.recordedUid ?? state.recordUid ?? (await createObject(target, state));
  if (uid === undefined) {
    log?.warn(
      { run: state.run },
      'run cannot have an object of its own; it is kept as a line in the run store',
    );
    await recorded(conn, state, 'written');
    return;
  }
  if (state.recordedUid === undefined) await noteObject(conn, state, uid);
  const written = await writeStatus(target, state, uid, await nodeOrder(recorder, state));
  if (written === 'refused') log?.error({ run: state.run }, 'the API server refuses the record of a run');
  // An object that somebody deleted is not made again: with it they deleted the run.
  if (written === 'gone') await cancelRun(conn, project, state.run);
  await recorded(conn, state, 'written');
}

/** The order in which the revision lists the nodes; none where the revision is gone. */
async function nodeOrder({ conn, project }: Recorder, { revision }: RunState): Promise<string[]> {
  const found = await getRevision(conn, project, revision);
  if (found === undefined || isUnavailable(found)) return [];
  return [found.trigger.id, ...found.steps.map(({ id }) => id)];
}

/** Calls `work` for each item, at most `width` at a time. */
async function forEachOf<T>(items: T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
