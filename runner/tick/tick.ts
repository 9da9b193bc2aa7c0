/**
 * One tick of a schedule: the event of one scheduled time, submitted once, however often the tick is
 * executed. It waits for a run store that is away until the time has passed in which the event still counts.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import type { RunStoreConnection } from '../../runs/connection.ts';
import { submit } from '../../runs/submit.ts';
import type { Submission, Submitted, Unavailable } from '../../runs/types.ts';
import type { TickConfig } from './config.ts';

const MINUTE_MS = 60_000;
const RETRY_MS = 1_000;
/** By as much may the clock of the node be behind the controller's. */
const AHEAD_MS = MINUTE_MS;

export type Tick = { scheduledAt: number; firedAt: number; submission: Submission };

/**
 * The event of the Job. The CronJob controller names a Job after the minute for which it was made; a Job that
 * somebody made by hand is for the moment in which it is executed, and is an event of its own.
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
    // Executed again it is the same event, although it fires later.
    bodyHash: createHash('sha256').update(key).digest('hex'),
    input: JSON.stringify({ text_content: scheduled, data_content: data }),
    test: false,
  };
  return { scheduledAt, firedAt, submission };
}

/**
 * The minute in the name of a Job; none where it is still to come, since then it was not the controller who
 * chose the name.
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
 * How a tick ended, and what to say of it. `lost`: its time starts no run, and to try again is of no use.
 * What was told to stop is tried again, unless its Job is gone.
 */
export type TickOutcome = {
  kind: 'ok' | 'lost' | 'stopped';
  message: string;
  fields: Record<string, unknown>;
};

/** What the run store said, for people. */
const WHY: Record<Unavailable['why'], string> = {
  connection: 'it could not be reached',
  'no-store': 'it is empty and is being put back by the operator',
  full: 'it is full',
  damaged: 'a key of it is damaged (docs/run-store.md)',
};

export type FireOptions = {
  log: Log;
  /** Nothing is submitted any more once it is aborted. */
  signal: AbortSignal;
  now?: () => number;
};

/** Submits the event, again and again while the run store is away and the event still counts. */
export async function fire(
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
      message: 'the scheduled time has passed for too long, no run is started',
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
        message: 'the run store did not take the event in time, no run is started',
        fields: { ...fields, why, tries },
      };
    if (tries === 1) log.warn({ ...fields, why }, 'the run store does not take the event, trying again');
    await sleep(RETRY_MS, signal);
  }
  return { kind: 'stopped', message: 'ended: no run is started', fields };
}

/** What the run store made of the event. */
function outcomeOf(submitted: Exclude<Submitted, Unavailable>, fields: Record<string, unknown>): TickOutcome {
  switch (submitted.outcome) {
    case 'accepted': {
      const message = submitted.duplicate ? 'the run was started before' : 'run started';
      return { kind: 'ok', message, fields: { ...fields, run: submitted.run } };
    }
    case 'rejected':
      return { kind: 'ok', message: 'no run is started: the workflow rejects runs above its limit', fields };
    case 'suspended':
      return { kind: 'ok', message: 'no run is started: the workflow is suspended', fields };
    case 'conflict': {
      const message = 'another run has the key of this time, no run is started';
      return { kind: 'lost', message, fields: { ...fields, run: submitted.run } };
    }
  }
}
