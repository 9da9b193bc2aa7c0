/**
 * Submits the event of one scheduled time, once however often the tick is executed. Retries while the run
 * store is unavailable, until the event is too late.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import type { RunStoreConnection, Unavailable } from '../../store/connection.ts';
import { submit } from '../../runs/submit.ts';
import type { Submission, Submitted } from '../../runs/types/submission.ts';
import type { TickConfig } from './config.ts';

const MINUTE_MS = 60_000;
const RETRY_MS = 1_000;
/** How far the clock of the node may be behind the controller's. */
const AHEAD_MS = MINUTE_MS;

export type Tick = { scheduledAt: number; firedAt: number; submission: Submission };

/**
 * The event of a Job. The CronJob controller names a Job after its scheduled minute. The scheduled time of a
 * manually created Job is the time of its execution, and it is a separate event.
 */
export function tickOf(config: TickConfig, firedAt: number): Tick {
  const { job, jobUid, cronJob, timeZone, project, workflow, workflowUid, revision } = config;
  const due = minuteOf(job, cronJob, firedAt);
  const scheduledAt = due ?? Math.floor(firedAt / 1_000) * 1_000;
  const key = due === undefined ? `job/${jobUid}` : `schedule/${rfc3339(due)}`;
  const scheduled = rfc3339(scheduledAt);
  const data = { scheduled_time: scheduled, fired_time: rfc3339(firedAt), time_zone: timeZone };
  const submission: Submission = {
    project,
    workflow,
    workflowUid,
    revision,
    trigger: 'schedule',
    dedupeKey: key,
    // The hash of the key alone: a repeated execution is the same event, although it fires later.
    bodyHash: createHash('sha256').update(key).digest('hex'),
    input: JSON.stringify({ text_content: scheduled, data_content: data }),
    test: false,
  };
  return { scheduledAt, firedAt, submission };
}

/**
 * The minute in the name of a Job; undefined if it is in the future, because then the controller did not
 * choose the name.
 */
function minuteOf(job: string, cronJob: string, firedAt: number): number | undefined {
  const [, digits] = job.startsWith(`${cronJob}-`) ? (/^-(\d+)$/.exec(job.slice(cronJob.length)) ?? []) : [];
  const minute = Number(digits ?? NaN) * MINUTE_MS;
  return minute <= firedAt + AHEAD_MS ? minute : undefined;
}

function rfc3339(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}

/**
 * How a tick ended, with the log message. `lost`: no run was started, and a retry does not help. `stopped`:
 * SIGTERM ended it; the Job retries.
 */
export type TickOutcome = {
  kind: 'ok' | 'lost' | 'stopped';
  message: string;
  fields: Record<string, unknown>;
};

/** Why the run store is unavailable, for people. */
const WHY: Record<Unavailable['why'], string> = {
  connection: 'unreachable',
  'no-store': 'empty: the operator restores it',
  full: 'full',
  damaged: 'a key is damaged (docs/run-store.md)',
};

export type FireOptions = {
  log: Log;
  /** Aborted to stop. */
  signal: AbortSignal;
  now?: () => number;
};

/** Submits the event. Retries while the run store is unavailable and the event is not too late. */
export async function submitTick(
  conn: RunStoreConnection,
  config: TickConfig,
  { log, signal, now = Date.now }: FireOptions,
): Promise<TickOutcome> {
  const { scheduledAt, firedAt, submission } = tickOf(config, now());
  const fields = { workflow: config.workflow, scheduled: rfc3339(scheduledAt) };
  const latest = config.latestSeconds === undefined ? Infinity : scheduledAt + config.latestSeconds * 1_000;
  if (firedAt > latest) {
    return {
      kind: 'lost',
      message: 'too late, no run started',
      fields,
    };
  }
  for (let tries = 1; !signal.aborted; tries += 1) {
    const submitted = await submit(conn, submission);
    if (submitted.outcome !== 'unavailable') return outcomeOf(submitted, fields);
    const why = WHY[submitted.why];
    if (now() + RETRY_MS > latest)
      return {
        kind: 'lost',
        message: 'run store unavailable, no run started',
        fields: { ...fields, why, tries },
      };
    if (tries === 1) log.warn({ ...fields, why }, 'run store unavailable, retrying');
    await sleep(RETRY_MS, signal);
  }
  return { kind: 'stopped', message: 'stopped, no run started', fields };
}

/** The outcome of a submission. */
function outcomeOf(submitted: Exclude<Submitted, Unavailable>, fields: Record<string, unknown>): TickOutcome {
  switch (submitted.outcome) {
    case 'accepted': {
      const message = submitted.duplicate ? 'run already started' : 'run started';
      return { kind: 'ok', message, fields: { ...fields, run: submitted.run } };
    }
    case 'rejected':
      return { kind: 'ok', message: 'event rejected by concurrency limit', fields };
    case 'suspended':
      return { kind: 'ok', message: 'event refused, workflow suspended', fields };
    case 'conflict': {
      const message = 'event key belongs to another run';
      return { kind: 'lost', message, fields: { ...fields, run: submitted.run } };
    }
  }
}
