/**
 * Polls one account. Guarantees that the cursor advances only after every event before it is in the run
 * store. Whatever ends the poll (a deadline, a failure, the death of the pod), the next one finds the same
 * events again, and they start no second run.
 */
import { createHash } from 'node:crypto';
import { sleep } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import {
  PollError,
  type PollContext,
  type Polled,
  type PolledEvent,
  type Poller,
} from '../../nodes/contract/poller.ts';
import type { RunStoreConnection, Unavailable } from '../../store/connection.ts';
import { claimPoll, releasePoll, renewPoll, RENEW_MS, type ClaimedPoll } from '../../store/polling/claim.ts';
import type { PollRef, PolledTrigger } from '../../store/polling/triggers.ts';
import { pollDelayMs } from '../../store/polling/delay.ts';
import { failPoll, movePoll } from '../../store/polling/outcome.ts';
import { submit } from '../../runs/submit.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { Submission } from '../../runs/types/submission.ts';
import { storedCursor, startOf } from './cursor.ts';
import { DEFECT, failureOf } from './failure.ts';
import { createKnownItems } from './knownItems.ts';

/** The deadline of a page. */
const PAGE_MS = 30_000;
/**
 * After a third of that time a page ends with the events it has, so that a slow item gets the next page for
 * itself.
 */
const ENOUGH_OF_PAGE = 1 / 3;
/** The most events of a page, and bytes of all of them. */
const PAGE_EVENTS = 100;
const PAGE_BYTES = 8 * 1024 * 1024;
/** The most bytes of one event, which is one value in the run store. */
const EVENT_BYTES = 512 * 1024;
/** The pause while the run store is unavailable. */
const RETRY_MS = 500;
/** After this time a burst of events yields to other accounts. */
const BURST_MS = 15_000;

/** The credentials and the egress of the project, as pollers use them. */
export type ProjectAccess = Pick<PollContext, 'credential' | 'egress'>;

export type PollDeps = {
  conn: RunStoreConnection;
  project: ProjectUid;
  /** The name of the poll pod or runner. */
  pod: string;
  poller(kind: string): Promise<Poller<unknown>>;
  access(): Promise<ProjectAccess>;
  /** Called after a failed poll: the credential of that name may have changed. */
  invalidate?(credential: string): void;
  /** Aborted when the pod ends: polls in progress end without a failure. */
  leave: AbortSignal;
  log: Log;
  /** Polls accounts that become due in so many milliseconds, because nobody polls them then. Default 0. */
  aheadMs?: number;
  /** How long a poll continues with further pages, in milliseconds. Default 15 s. */
  burstMs?: number;
  /** The deadline of a page, in milliseconds. Default 30 s. */
  pageMs?: number;
};

/**
 * `again`: poll again after `ms` milliseconds. `gone`: the trigger no longer exists. `away`: why the run
 * store is unavailable.
 */
export type PollOutcome =
  | { outcome: 'again'; ms: number; failing: boolean; away?: Unavailable['why'] }
  | { outcome: 'gone' };

type Claimed = Extract<ClaimedPoll, { outcome: 'claimed' }>;

/**
 * Polls a trigger if it is due, page by page until no more events are waiting or the time is used up.
 * `onlyWorking`: skips a trigger whose last poll failed.
 */
export async function pollAccount(
  deps: PollDeps,
  workflowUid: string,
  { onlyWorking = false }: { onlyWorking?: boolean } = {},
): Promise<PollOutcome> {
  const { conn, project, pod, aheadMs = 0 } = deps;
  const claim = await claimPoll(conn, project, workflowUid, pod, { onlyWorking, aheadMs });
  if (claim.outcome === 'gone') return claim;
  if (claim.outcome === 'unavailable')
    return { outcome: 'again', ms: RETRY_MS, failing: false, away: claim.why };
  if (claim.outcome === 'wait') return { outcome: 'again', ms: claim.ms, failing: claim.failures > 0 };
  const startedAt = performance.now();
  const lost = new AbortController();
  const renewal = setInterval(() => {
    void renewPoll(deps.conn, claim.ref).then(({ outcome }) => outcome === 'fenced' && lost.abort());
  }, RENEW_MS);
  const end = AbortSignal.any([deps.leave, lost.signal]);
  try {
    const { isLeft } = await readPages(deps, claim, end);
    if (isLeft) {
      await releasePoll(deps.conn, claim.ref);
      return { outcome: 'again', ms: 0, failing: false };
    }
  } catch (error) {
    if (!end.aborted) return await fail(deps, claim, error);
    await releasePoll(deps.conn, claim.ref);
  } finally {
    clearInterval(renewal);
  }
  const intervalMs = claim.trigger.intervalSeconds * 1_000;
  return { outcome: 'again', ms: Math.max(0, startedAt + intervalMs - performance.now()), failing: false };
}

/**
 * Returns whether more events are waiting. Throws the errors of the poller, and the signal's reason if it is
 * aborted.
 */
async function readPages(
  deps: PollDeps,
  { ref, trigger, cursor }: Claimed,
  end: AbortSignal,
): Promise<{ isLeft: boolean }> {
  const { conn, burstMs = BURST_MS } = deps;
  const poller = await deps.poller(trigger.kind);
  const until = performance.now() + burstMs;
  let stored = cursor;
  for (;;) {
    const { page, memory } = await readPage(deps, poller, { ref, trigger, stored }, end);
    // A pod that was delayed beyond its claim must not submit events.
    if (page.events.length > 0 && (await renewPoll(conn, ref)).outcome === 'fenced') break;
    await submitAll(deps, trigger, page.events, end);
    stored = storedCursor(trigger, page.cursor);
    const { more, baselineLost: lost, events } = page;
    const moved = await movePoll(conn, ref, { cursor: stored, more, events: events.length, lost, memory });
    report(deps, trigger, page);
    // If the cursor did not advance, the next poll finds the same events, which start no second run.
    if (!more || moved.outcome !== 'done') break;
    end.throwIfAborted();
    if (performance.now() >= until) return { isLeft: true };
  }
  return { isLeft: false };
}

async function readPage(
  deps: PollDeps,
  poller: Poller<unknown>,
  { ref, trigger, stored }: { ref: PollRef; trigger: PolledTrigger; stored: string | undefined },
  end: AbortSignal,
): Promise<{ page: Polled; memory: string | undefined }> {
  const { pageMs = PAGE_MS } = deps;
  const deadline = AbortSignal.timeout(pageMs);
  const signal = AbortSignal.any([end, deadline]);
  const enough = AbortSignal.timeout(Math.ceil(pageMs * ENOUGH_OF_PAGE));
  const { cursor, since } = startOf(trigger, stored);
  const { workflow } = trigger;
  const log = {
    info: (fields: object, message: string) => deps.log.info({ workflow, ...fields }, message),
    warn: (fields: object, message: string) => deps.log.warn({ workflow, ...fields }, message),
  };
  const bounds = { limit: PAGE_EVENTS, maxEventBytes: EVENT_BYTES, maxBytes: PAGE_BYTES };
  const knownItems = createKnownItems(deps.conn, ref, cursor === undefined);
  try {
    const context = { ...(await deps.access()), ...bounds, knownItems, signal, enough, log };
    const page = await within(signal, poller.poll(trigger.fields, cursor, context, since));
    return { page, memory: knownItems.storedName() };
  } catch (error) {
    if (deadline.aborted && !end.aborted)
      throw new PollError('Timeout', `The account did not answer within ${pageMs / 1_000} seconds.`, {
        cause: error,
      });
    throw error;
  }
}

/** Rejects when the signal is aborted, even if the poller ignores it. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
    if (signal.aborted) giveUp();
  });
}

/**
 * Submits the events one after the other, so that they start in order. Throws the signal's reason if it is
 * aborted while the run store is unavailable.
 */
async function submitAll(
  { conn, project, log }: PollDeps,
  trigger: PolledTrigger,
  events: readonly PolledEvent[],
  end: AbortSignal,
): Promise<void> {
  const { workflow } = trigger;
  for (const event of events) {
    const submission = submissionOf(project, trigger, event);
    let submitted = await submit(conn, submission);
    for (let tries = 1; submitted.outcome === 'unavailable'; tries += 1) {
      if (tries === 1) log.warn({ workflow, why: submitted.why }, 'run store unavailable, retrying');
      end.throwIfAborted();
      await sleep(RETRY_MS, end);
      submitted = await submit(conn, submission);
    }
    if (submitted.outcome === 'rejected') log.warn({ workflow }, 'event rejected by concurrency limit');
    if (submitted.outcome === 'suspended') log.warn({ workflow }, 'event refused, workflow suspended');
    if (submitted.outcome === 'conflict')
      log.warn({ workflow, run: submitted.run }, 'event key belongs to another run');
  }
}

/** The name of the trigger's credential; empty if it names none. */
function credentialOf({ fields }: PolledTrigger): string {
  const { credential } = (fields ?? {}) as { credential?: unknown };
  return typeof credential === 'string' ? credential : '';
}

/** The submission of an event. */
function submissionOf(
  project: ProjectUid,
  { workflow, workflowUid, revision, kind }: PolledTrigger,
  { key, output }: PolledEvent,
): Submission {
  const dedupeKey = `${kind}/${key}`;
  return {
    project,
    workflow,
    workflowUid,
    revision,
    trigger: kind,
    dedupeKey,
    // The hash of the key alone: the account may show the same event slightly differently when it is polled
    // again.
    bodyHash: createHash('sha256').update(dedupeKey).digest('hex'),
    input: JSON.stringify(output),
    test: false,
  };
}

function report({ log }: PollDeps, { workflow }: PolledTrigger, { events, baselineLost }: Polled): void {
  if (events.length > 0) log.info({ workflow, events: events.length }, 'events submitted');
  if (baselineLost !== undefined) log.warn({ workflow, why: baselineLost }, 'cursor lost, starting over');
}

async function fail(deps: PollDeps, claim: Claimed, error: unknown): Promise<PollOutcome> {
  const { conn, log } = deps;
  const { trigger, ref } = claim;
  const { workflow, intervalSeconds } = trigger;
  const known = failureOf(error);
  if (!known) log.error({ workflow, err: error }, 'poll failed unexpectedly');
  const { reason, message, retryAfterSeconds } = known ?? DEFECT;
  const failures = claim.failures + 1;
  const ms = pollDelayMs({ failures, intervalSeconds, retryAfterSeconds });
  log.warn({ workflow, reason, failures, againMs: Math.round(ms) }, 'poll failed');
  deps.invalidate?.(credentialOf(trigger));
  const isAsked = retryAfterSeconds !== undefined;
  await failPoll(conn, ref, { failures, delayMs: ms, reason, message, isAsked });
  return { outcome: 'again', ms, failing: true };
}
