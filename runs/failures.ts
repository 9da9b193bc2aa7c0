/**
 * Starts the workflow in `onFailure` of a workflow whose live run has failed, once for each run. The script
 * that ends the run adds an entry to the project's failures; any runner submits it, with a dedupe key made of
 * the run's name. The end of the run is not recorded before that, so that a run store that loses its data in
 * between gets the run again from its record.
 */
import type { RunPhase } from '../api/phase.ts';
import { FAILURES } from '../api/reasons.ts';
import type { Log } from '../kube/log.ts';
import {
  doneOrUnavailable,
  isUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { groupOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW } from '../store/lua.ts';
import { argumentsOf, defineScript } from '../store/script.ts';
import { getCallee } from './callees.ts';
import { isDeleted } from './deletion.ts';
import { createPollingPace, type Pace } from './pace.ts';
import { readRun } from './read.ts';
import { submit } from './submit.ts';
import type { FailureTarget } from './types/limits.ts';
import type { NodeState } from './types/node.ts';
import type { FailureOutcome } from './types/result.ts';
import type { Submission, Submitted } from './types/submission.ts';

/** The trigger of runs that a failure started. Their failures and those of their children start nothing. */
const ON_FAILURE = 'onFailure';

/** The event of a failed run: the data of the trigger of the workflow that it starts. */
export type FailureEvent = {
  workflow: string;
  run: string;
  trigger: string;
  /** The node that failed; empty if the run failed as a whole. */
  node: string;
  reason: string;
  message: string;
  /** The page of the run in the console; empty without a console URL. */
  url: string;
};

/** An entry of the failures. With `event`, the record of the failed run may be complete. */
type Entry = { target: FailureTarget; event?: FailureEvent };

/** The fields of a run that its failure event shows. */
type FailedRun = {
  run: string;
  workflow: string;
  trigger: string;
  reason?: string | undefined;
  message?: string | undefined;
  nodes: readonly Pick<NodeState, 'id' | 'phase' | 'reason' | 'endedAt'>[];
};

/** Whether the failure of another run started the run, or the root of it. */
export function isAfterFailure({
  trigger,
  parent,
}: {
  trigger: string;
  parent?: { isAfterFailure?: true } | undefined;
}): boolean {
  return trigger === ON_FAILURE || parent?.isAfterFailure === true;
}

/**
 * Whether the end of a run starts the workflow in `onFailure`. The failure of a child run that its parent
 * waits for does not: it fails a node of the parent.
 */
export function isReported({
  phase,
  test,
  trigger,
  parent,
}: {
  phase: RunPhase;
  test: boolean;
  trigger: string;
  parent?: { waits: boolean; isAfterFailure?: true } | undefined;
}): boolean {
  return phase === 'Failed' && !test && !isAfterFailure({ trigger, parent }) && parent?.waits !== true;
}

/**
 * The event of the failed run. `consoleUrl`: the origin of the console. The message of a run never quotes a
 * sensitive node.
 */
export function failureEvent(
  { run, workflow, trigger, reason = '', message = '', nodes }: FailedRun,
  { namespace, consoleUrl }: { namespace: string; consoleUrl?: string | undefined },
): FailureEvent {
  const failed = nodes
    .filter(({ phase }) => phase === 'Failed' || phase === 'Unknown')
    .toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  const node =
    failed.find(({ id }) => message.startsWith(`node ${id}:`)) ?? failed.find((one) => one.reason === reason);
  const url = consoleUrl === undefined ? '' : `${consoleUrl}/console/p/${namespace}/runs/${run}`;
  return { workflow, run, trigger, node: node?.id ?? '', reason, message, url };
}

/** Adds the failure of a run that the run store does not have. Repeating it changes nothing. */
export function addFailure(
  conn: RunStoreConnection,
  project: ProjectUid,
  target: FailureTarget,
  event: FailureEvent,
): Promise<Done> {
  const entry: Entry = { target, event };
  const { failures } = keysOf(project);
  return doneOrUnavailable(async () => {
    await conn.command('hset', failures, event.run, JSON.stringify(entry));
    await conn.command('publish', failures, event.run);
  });
}

/** Removes or replaces an entry, and allows the record of the end of its run. */
const SETTLE = defineScript({
  flags: 'drains',
  keys: ['meta', 'failures', 'run', 'unrecorded'],
  // `entry`: the new one; empty: the entry is removed. `result`: what was started, as JSON; empty: nothing.
  args: ['run_id', 'entry', 'result'],
  answers: 'nothing',
  body: `
    ${NOW}
    if entry == '' then
      redis.call('HDEL', failures, run_id)
    elseif redis.call('HEXISTS', failures, run_id) == 1 then
      redis.call('HSET', failures, run_id, entry)
    end
    if redis.call('HDEL', run, 'unreported') == 0 then return end
    if result ~= '' then redis.call('HSET', run, 'onFailure', result) end
    redis.call('ZADD', unrecorded, 'XX', now, run_id)
    redis.call('PUBLISH', unrecorded, run_id)
  `,
});

const SWEEP_MS = 500;
/** Entries of one call. */
const PAGE = 100;
/** How long an entry waits for a missing workflow: objects of one manifest arrive in any order. */
const PATIENCE_MS = 30_000;

export type FailureSweepOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  namespace: string;
  /** The origin of the console in browsers. */
  consoleUrl?: string | undefined;
  log: Log;
  /** Of a busy runner, and while entries are left. Default: twice a second. */
  everyMs?: number;
  /** Default: that of a busy runner. */
  pace?: Pace;
  /** How long an entry waits for a workflow that does not exist. */
  patienceMs?: number;
};

/** Starts the error workflows of failed runs, until the signal is aborted. Any number of sweeps may run. */
export function createFailureSweep(options: FailureSweepOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { conn, project, everyMs = SWEEP_MS, pace = createPollingPace() } = options;
  return {
    run: async (signal) => {
      const subscription = conn.subscriber().subscribe(keysOf(project).failures, pace.raise);
      try {
        for (let cursor = '0', hasEntries = false; !signal.aborted; ) {
          const page = await sweepPage(options, cursor);
          cursor = page.next;
          hasEntries ||= page.hasEntries;
          if (cursor !== '0') continue;
          // An entry may be left, which no message announces.
          await pace.wait({ busyMs: everyMs, ...(hasEntries && { nextMs: everyMs }) }, signal);
          hasEntries = false;
        }
      } finally {
        void subscription.then((it) => it.end());
      }
    },
  };
}

/**
 * Settles a page of entries, and answers the cursor of the next page, `0` after the last one, and whether
 * there may be entries.
 */
async function sweepPage(
  options: FailureSweepOptions,
  cursor: string,
): Promise<{ next: string; hasEntries: boolean }> {
  const { conn, project } = options;
  const page = await orUnavailable(
    () =>
      conn.command('hscan', keysOf(project).failures, cursor, 'count', PAGE) as Promise<[string, string[]]>,
  );
  if (isUnavailable(page)) return { next: '0', hasEntries: true };
  const [next, fields] = page;
  for (let at = 0; at < fields.length; at += 2) {
    const [run = '', text = '{}'] = fields.slice(at, at + 2);
    const settled = await settleEntry(options, run, JSON.parse(text) as Entry);
    // Further entries would get the same answer.
    if (isUnavailable(settled)) return { next: '0', hasEntries: true };
  }
  return { next, hasEntries: fields.length > 0 };
}

async function settleEntry(options: FailureSweepOptions, run: string, entry: Entry): Promise<Done> {
  const { conn, project } = options;
  const found = await findFailure(options, run, entry);
  if ('outcome' in found) return found;
  if (found.kind === 'none') return settle(conn, project, run, {});
  const { target, event, failedAt } = found;
  const { workflow } = target;
  const submitted = await start(options, target, event);
  switch (submitted.outcome) {
    case 'missing': {
      if (Date.now() - failedAt < (options.patienceMs ?? PATIENCE_MS)) return { outcome: 'done' };
      const message = `Workflow ${workflow} does not exist in this namespace or was never valid: apply it, or name another one in onFailure.`;
      return giveUp(options, run, { workflow, reason: 'WorkflowMissing', message });
    }
    case 'accepted':
      return settle(conn, project, run, { result: { workflow, run: submitted.run } });
    case 'unavailable':
      // A full store must drain: the record does not wait for the room that its run takes.
      if (submitted.why === 'full') await settle(conn, project, run, { entry: { target, event } });
      return submitted;
    case 'suspended': {
      const message = `Workflow ${workflow} is suspended: set spec.suspend to false for later failures.`;
      return giveUp(options, run, { workflow, reason: 'Suspended', message });
    }
    case 'rejected':
    case 'conflict': {
      const message = `Workflow ${workflow} has as many runs as concurrency.limit allows, and its policy is Reject: set the policy to Queue.`;
      return giveUp(options, run, { workflow, reason: 'ConcurrencyLimit', message });
    }
  }
}

/** Submits the event. `missing`: also while the workflow is deleted; one of its name may replace it. */
async function start(
  { conn, project }: FailureSweepOptions,
  { workflow, uid, revision }: FailureTarget,
  event: FailureEvent,
): Promise<Submitted | { outcome: 'missing' }> {
  if (uid === undefined || revision === undefined) return { outcome: 'missing' };
  const submitted = await submit(conn, submissionOf(project, { workflow, uid, revision }, event));
  if (submitted.outcome !== 'suspended') return submitted;
  const deleted = await isDeleted(conn, project, uid);
  if (isUnavailable(deleted)) return deleted;
  return deleted ? { outcome: 'missing' } : submitted;
}

type Found =
  | { kind: 'failure'; target: FailureTarget; event: FailureEvent; failedAt: number }
  /** The run is gone, or its failure starts nothing. */
  | { kind: 'none' };

/** Finds the event of the entry and its current target, which may have a new revision since the run ended. */
async function findFailure(
  { conn, project, namespace, consoleUrl }: FailureSweepOptions,
  run: string,
  { target, event }: Entry,
): Promise<Found | Unavailable> {
  if (event) {
    const callee = await getCallee(conn, project, target.workflow);
    if (callee && isUnavailable(callee)) return callee;
    const { workflow } = target;
    const current = callee ? { workflow, uid: callee.workflowUid, revision: callee.revision } : { workflow };
    return { kind: 'failure', target: current, event, failedAt: 0 };
  }
  const state = await readRun(conn, project, run);
  if (isUnavailable(state)) return state;
  if (!state || !isReported(state)) return { kind: 'none' };
  const current = await readTarget(conn, project, state.workflowUid);
  if (isUnavailable(current)) return current;
  return {
    kind: 'failure',
    target: current?.workflow === target.workflow ? current : target,
    event: failureEvent(state, { namespace, consoleUrl }),
    failedAt: state.endedAt ?? 0,
  };
}

function readTarget(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<FailureTarget | undefined | Unavailable> {
  const key = keysOf(project).wf(groupOf({ workflowUid, test: false }));
  return orUnavailable(async () => {
    const text = await conn.command('hget', key, 'onFailure');
    return typeof text === 'string' ? (JSON.parse(text) as FailureTarget) : undefined;
  });
}

function submissionOf(
  project: ProjectUid,
  { workflow, uid, revision }: Required<FailureTarget>,
  event: FailureEvent,
): Submission {
  return {
    project,
    workflow,
    workflowUid: uid,
    revision,
    dedupeKey: `onFailure/${event.run}`,
    trigger: ON_FAILURE,
    input: JSON.stringify({ text_content: event.message, data_content: event }),
    // Two runners may see different reasons of one failure: the first event counts.
    bodyHash: '',
    test: false,
  };
}

async function giveUp(
  { conn, project, log }: FailureSweepOptions,
  run: string,
  result: { workflow: string; reason: keyof typeof FAILURES; message: string },
): Promise<Done> {
  const settled = await settle(conn, project, run, { result });
  const { workflow, reason } = result;
  if (settled.outcome === 'done') log.warn({ run, workflow, reason }, 'error workflow not started');
  return settled;
}

function settle(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  { entry, result }: { entry?: Entry; result?: FailureOutcome },
): Promise<Done> {
  const { meta, failures, run: runKey, unrecorded } = keysOf(project);
  const args = argumentsOf(SETTLE, {
    run_id: run,
    entry: entry ? JSON.stringify(entry) : '',
    result: result ? JSON.stringify(result) : '',
  });
  return doneOrUnavailable(() => conn.script(SETTLE, [meta, failures, runKey(run), unrecorded], args));
}
