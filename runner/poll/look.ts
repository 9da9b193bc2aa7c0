/**
 * One look at one account. Guarantees that the cursor moves only after every event before it is in the run
 * store, and that whatever ends the look, a deadline, a failure or the death of the pod, the next one finds
 * the same events again, which then start nothing twice.
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
} from '../../nodes/poller.ts';
import type { RunStoreConnection } from '../../runs/connection.ts';
import {
  claimPoll,
  releasePoll,
  renewPoll,
  RENEW_MS,
  type ClaimedPoll,
  type PollRef,
} from '../../runs/polling/claim.ts';
import { pollDelayMs } from '../../runs/polling/delay.ts';
import { failPoll, movePoll } from '../../runs/polling/outcome.ts';
import type { PolledTrigger } from '../../runs/polling/triggers.ts';
import { submit } from '../../runs/submit.ts';
import type { ProjectUid, Submission, Unavailable } from '../../runs/types.ts';
import { keptCursor, startOf } from './cursor.ts';
import { DEFECT, failureOf } from './failure.ts';
import { createMemory } from './memory.ts';

/** One page must be there after this time. */
const PAGE_MS = 30_000;
/**
 * After a third of that time a page ends with what it has, so that what takes long has the next one for
 * itself.
 */
const ENOUGH_OF_PAGE = 1 / 3;
/** Events of a page, and what all of them may have. */
const PAGE_EVENTS = 100;
const PAGE_BYTES = 8 * 1024 * 1024;
/** What the run store takes as one value. */
const EVENT_BYTES = 512 * 1024;
/** While the run store is away. */
const AGAIN_MS = 500;
/** After this time a burst lets others go before it. */
const TURN_MS = 15_000;

/** What pollers may use of the project. */
export type Means = Pick<PollContext, 'credential' | 'egress'>;

export type LookDeps = {
  conn: RunStoreConnection;
  project: ProjectUid;
  /** Who looks. */
  pod: string;
  poller(kind: string): Promise<Poller<unknown>>;
  means(): Promise<Means>;
  /** A look failed: what is known of accounts may not be so any more. */
  doubt?(): void;
  /** The pod ends: whatever is under way is given up, and nobody is blamed for it. */
  leave: AbortSignal;
  log: Log;
  /** For how long a look goes on to further pages. Left out: 15 s. */
  turnMs?: number;
  /** By when a page must be there. Left out: 30 s. */
  pageMs?: number;
};

/**
 * When to look again, in milliseconds, and whether the last look failed; or nobody is to look any more.
 * `away`: what the run store said.
 */
export type Looked =
  | { outcome: 'again'; ms: number; failing: boolean; away?: Unavailable['why'] }
  | { outcome: 'gone' };

type Claimed = Extract<ClaimedPoll, { outcome: 'claimed' }>;

/**
 * Looks at a trigger if it is due, page by page until nothing more is waiting or others should have their
 * turn. `onlyWell`: not at one whose last look failed.
 */
export async function lookAt(
  deps: LookDeps,
  workflowUid: string,
  options: { onlyWell?: boolean } = {},
): Promise<Looked> {
  const claim = await claimPoll(deps.conn, deps.project, workflowUid, deps.pod, options);
  if (claim.outcome === 'gone') return claim;
  if (claim.outcome === 'unavailable')
    return { outcome: 'again', ms: AGAIN_MS, failing: false, away: claim.why };
  if (claim.outcome === 'wait') return { outcome: 'again', ms: claim.ms, failing: claim.failures > 0 };
  const begunAt = performance.now();
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
  return { outcome: 'again', ms: Math.max(0, begunAt + intervalMs - performance.now()), failing: false };
}

/**
 * Whether more is left for another turn. Throws what the poller throws, and the signal's reason when it is
 * aborted.
 */
async function readPages(
  deps: LookDeps,
  { ref, trigger, cursor }: Claimed,
  end: AbortSignal,
): Promise<{ isLeft: boolean }> {
  const { conn, turnMs = TURN_MS } = deps;
  const poller = await deps.poller(trigger.kind);
  const until = performance.now() + turnMs;
  let kept = cursor;
  for (;;) {
    const { page, memory } = await readPage(deps, poller, { ref, trigger, kept }, end);
    // Whoever was held up for longer than its claim lasts starts nothing any more.
    if (page.events.length > 0 && (await renewPoll(conn, ref)).outcome === 'fenced') break;
    await submitAll(deps, trigger, page.events, end);
    kept = keptCursor(trigger, page.cursor);
    const { more, baselineLost: lost, events } = page;
    const moved = await movePoll(conn, ref, { cursor: kept, more, events: events.length, lost, memory });
    report(deps, trigger, page);
    // Where it could not be moved the next look brings the same events once more, and they start nothing.
    if (!more || moved.outcome !== 'done') break;
    end.throwIfAborted();
    if (performance.now() >= until) return { isLeft: true };
  }
  return { isLeft: false };
}

async function readPage(
  deps: LookDeps,
  poller: Poller<unknown>,
  { ref, trigger, kept }: { ref: PollRef; trigger: PolledTrigger; kept: string | undefined },
  end: AbortSignal,
): Promise<{ page: Polled; memory: string | undefined }> {
  const { pageMs = PAGE_MS } = deps;
  const deadline = AbortSignal.timeout(pageMs);
  const signal = AbortSignal.any([end, deadline]);
  const enough = AbortSignal.timeout(Math.ceil(pageMs * ENOUGH_OF_PAGE));
  const { cursor, since } = startOf(trigger, kept);
  const { workflow } = trigger;
  const log = {
    info: (fields: object, message: string) => deps.log.info({ workflow, ...fields }, message),
    warn: (fields: object, message: string) => deps.log.warn({ workflow, ...fields }, message),
  };
  const bounds = { limit: PAGE_EVENTS, maxEventBytes: EVENT_BYTES, maxBytes: PAGE_BYTES };
  const memory = createMemory(deps.conn, ref, cursor === undefined);
  try {
    const context = { ...(await deps.means()), ...bounds, knownItems: memory, signal, enough, log };
    const page = await within(signal, poller.poll(trigger.fields, cursor, context, since));
    return { page, memory: memory.kept() };
  } catch (error) {
    if (deadline.aborted && !end.aborted)
      throw new PollError('Timeout', `The account did not answer within ${pageMs / 1_000} seconds.`, {
        cause: error,
      });
    throw error;
  }
}

/** A poller that does not heed the signal holds nobody up. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
    if (signal.aborted) giveUp();
  });
}

/**
 * One after the other, so that they start in their order. Throws the signal's reason when it ends while the
 * run store is away.
 */
async function submitAll(
  { conn, project, log }: LookDeps,
  trigger: PolledTrigger,
  events: readonly PolledEvent[],
  end: AbortSignal,
): Promise<void> {
  const { workflow } = trigger;
  for (const event of events) {
    const submission = submissionOf(project, trigger, event);
    let submitted = await submit(conn, submission);
    for (let tries = 1; submitted.outcome === 'unavailable'; tries += 1) {
      if (tries === 1)
        log.warn({ workflow, why: submitted.why }, 'the run store takes no event, trying again');
      end.throwIfAborted();
      await sleep(AGAIN_MS, end);
      submitted = await submit(conn, submission);
    }
    if (submitted.outcome === 'rejected')
      log.warn({ workflow }, 'no run is started for an event: the workflow rejects runs above its limit');
    if (submitted.outcome === 'suspended')
      log.warn({ workflow }, 'no run is started for an event: the workflow is suspended');
    if (submitted.outcome === 'conflict')
      log.warn({ workflow, run: submitted.run }, 'another run has the key of an event, no run is started');
  }
}

/** The run of an event. */
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
    // Seen again it is the same event, also where the account shows it a little otherwise.
    bodyHash: createHash('sha256').update(dedupeKey).digest('hex'),
    input: JSON.stringify(output),
    test: false,
  };
}

function report({ log }: LookDeps, { workflow }: PolledTrigger, { events, baselineLost }: Polled): void {
  if (events.length > 0) log.info({ workflow, events: events.length }, 'events submitted');
  if (baselineLost !== undefined)
    log.warn({ workflow, why: baselineLost }, 'begins anew: the cursor is lost');
}

async function fail(deps: LookDeps, claim: Claimed, error: unknown): Promise<Looked> {
  const { conn, log } = deps;
  const { trigger, ref } = claim;
  const { workflow, intervalSeconds } = trigger;
  const known = failureOf(error);
  if (!known) log.error({ workflow, err: error }, 'a look broke off');
  const { reason, message, retryAfterSeconds } = known ?? DEFECT;
  const failures = claim.failures + 1;
  const ms = pollDelayMs({ failures, intervalSeconds, retryAfterSeconds });
  log.warn({ workflow, reason, failures, againMs: Math.round(ms) }, 'a look failed');
  deps.doubt?.();
  const isAsked = retryAfterSeconds !== undefined;
  await failPoll(conn, ref, { failures, delayMs: ms, reason, message, isAsked });
  return { outcome: 'again', ms, failing: true };
}
