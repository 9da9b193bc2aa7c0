/**
 * Waits for the reply or the end of a run. A waiter subscribes first and reads then, and reads again now and
 * then and after every gap of its connection, so that it misses nothing that is stored.
 */
import { isTerminal, type TerminalPhase } from '../api/phase.ts';
import { isUnavailable, orUnavailable, type RunStoreConnection } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { createSignal } from '../store/signal.ts';
import { readRun } from './read.ts';
import { createSingleFlight, type SingleFlight } from './singleFlight.ts';
import type { Reply } from './types/result.ts';
import type { RunState } from './types/run.ts';

export type Waited =
  | { kind: 'reply'; reply: Reply }
  /** With the reply that came before the end, if the wait was for the end. */
  | { kind: 'ended'; phase: TerminalPhase; reply?: Reply; state: RunState }
  /** The store does not have the run. */
  | { kind: 'gone' }
  | { kind: 'timeout' };

export type WaitOptions = {
  timeoutMs: number;
  /** Ends the wait as `timeout`. */
  signal: AbortSignal;
  /** The reply or the end, whichever comes first (default), or the end alone. */
  until?: 'reply' | 'end';
};

export type ReplyWaiter = {
  wait(project: ProjectUid, run: string, options: WaitOptions): Promise<Waited>;
  /** Ends all waits as `timeout`. */
  close(): void;
};

const RECHECK_MS = 1_000;
/** Of all waiters of a process. */
const READS_PER_SECOND = 500;

/**
 * The delay before one of so many waiters reads again without a message: about a second, longer where many
 * wait, because their reads cost as much as runs do, and spread over time. `random`: 0 to 1.
 */
export function recheckDelayMs(waiting: number, random: number): number {
  const mean = Math.max(RECHECK_MS, (waiting / READS_PER_SECOND) * 1_000);
  return mean * (0.5 + random);
}

/** Waits over one shared connection for messages. */
export function createReplyWaiter(conn: RunStoreConnection): ReplyWaiter {
  const closing = new AbortController();
  const reads: Reads = createSingleFlight();
  let waiting = 0;
  const pause = () => recheckDelayMs(waiting, Math.random());
  return {
    wait: async (project, run, options) => {
      waiting += 1;
      const signal = AbortSignal.any([options.signal, closing.signal]);
      try {
        return await wait(conn, project, run, { ...options, signal, pause, reads });
      } finally {
        waiting -= 1;
      }
    },
    close: () => closing.abort(),
  };
}

type Reads = SingleFlight<Waited | undefined>;
type Waiters = { pause: () => number; reads: Reads };

async function wait(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  { timeoutMs, signal, pause, reads, until = 'reply' }: WaitOptions & Waiters,
): Promise<Waited> {
  const deadline = performance.now() + timeoutMs;
  const news = createSignal();
  // Live events are announced on the same channel, and need no read.
  const subscription = await conn.subscriber().subscribe(keysOf(project).run(run), (message) => {
    if (message !== 'event') news.raise();
  });
  signal.addEventListener('abort', news.raise, { once: true });
  try {
    for (;;) {
      // Many may wait for one run, and each read returns its whole reply.
      const found = await reads(`${until} ${project} ${run}`, () => readOutcome(conn, project, run, until));
      if (found) return found;
      const left = deadline - performance.now();
      if (left <= 0 || signal.aborted) return { kind: 'timeout' };
      await news.wait(Math.min(left, pause()));
    }
  } finally {
    signal.removeEventListener('abort', news.raise);
    subscription.end();
  }
}

/**
 * The outcome, once all replicas that may be promoted have it; undefined where the wait continues, also in an
 * outage.
 */
async function readOutcome(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  until: 'reply' | 'end',
): Promise<Waited | undefined> {
  const read = () => readStored(conn, project, run, until);
  const found = await orUnavailable(() => conn.replicated(project, read, (outcome) => outcome !== undefined));
  return isUnavailable(found) ? undefined : found;
}

async function readStored(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
  until: 'reply' | 'end',
): Promise<Waited | undefined> {
  const fields = await orUnavailable(async () => {
    const values = await conn.command('hmget', keysOf(project).run(run), 'phase', 'reply');
    return values as [string | null, string | null];
  });
  if (isUnavailable(fields)) return undefined;
  const [phase, reply] = fields;
  if (phase === null) return { kind: 'gone' };
  if (reply !== null && until === 'reply') return { kind: 'reply', reply: JSON.parse(reply) as Reply };
  if (!isTerminal(phase)) return undefined;
  const state = await readRun(conn, project, run);
  if (isUnavailable(state)) return undefined;
  if (!state) return { kind: 'gone' };
  return { kind: 'ended', phase, state, ...(state.reply && { reply: state.reply }) };
}
