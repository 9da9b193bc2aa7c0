/**
 * Sends events at a steady rate, whatever becomes of them, and repeats each with the same key until it is
 * answered with 2xx, as senders of webhooks do. Half of the requests open a connection of their own, the
 * others use ones that are kept.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createAttempts, type Outgoing } from './attempt.ts';
import type { Attempt, SentEvent } from './evidence.ts';

/** Where events go. `refusal` is the status that all of them deserve, where they deserve one. */
export type Target = {
  workflow: string;
  refusal?: number;
  outgoing: (event: string) => Outgoing;
};

export type SenderOptions = {
  targets: readonly Target[];
  /** Events a second. */
  rate: number;
  /** Stands in each id, so that two runs have no event in common. */
  name: string;
  /** Whether what was not accepted is sent again. Default: yes. */
  repeats?: boolean;
  /** How long it waits for an answer. Default: 10 s. */
  timeoutMs?: number;
  /**
   * Asked all the time: while it returns true for the number of unanswered events, no new event is sent.
   * Those are not made up for. Default: always false.
   */
  isAtLimit?: (unanswered: number) => boolean;
  /** Called with every answer, or lack of one. */
  onAttempt?: (event: SentEvent, attempt: Attempt) => void;
};

export type Sender = {
  /** All events so far, with everything that was answered. */
  events: readonly SentEvent[];
  /** Events a second that were accepted at their first try, over the last seconds. */
  acceptedRate(seconds: number): number;
  /** How many are not answered as they should be, and were first sent longer ago than that. */
  unanswered(olderThanMs?: number): number;
  /** Sends no new event; resolves when all are answered, or `patienceMs` later. */
  end(patienceMs: number): Promise<void>;
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** Begins at once. */
export function startSender(options: SenderOptions): Sender {
  const { targets, rate, name, repeats = true, timeoutMs, isAtLimit, onAttempt } = options;
  const attempts = createAttempts(timeoutMs);
  // Repetitions at most at the rate of new events: the sender shares the machine with the programs, and more
  // repetitions of a backlog would take from them the time in which they accept it.
  const paced = createPace(rate);
  const events: SentEvent[] = [];
  const open = new Map<SentEvent, number>();
  const accepted: number[] = [];
  const stop = new AbortController();
  let hasGivenUp = false;

  const deliver = async (event: SentEvent, outgoing: Outgoing): Promise<void> => {
    for (let tries = 0; ; tries += 1) {
      const attempt = await attempts.send(outgoing, (events.length + tries) % 2 === 0 ? 'new' : 'kept');
      event.attempts.push(attempt);
      onAttempt?.(event, attempt);
      if (isSettled(event, attempt) || !repeats) break;
      await delay(paced(pauseMs(tries, attempt)), undefined, { ref: false });
      if (hasGivenUp) return;
    }
    open.delete(event);
    if (event.attempts.length === 1 && isAccepted(event.attempts[0])) accepted.push(performance.now());
  };

  const sendNext = (): void => {
    const number = events.length;
    const target = targets[number % targets.length];
    if (!target) throw new Error('a sender needs a target');
    const id = `ev-${name}-${number}`;
    const event: SentEvent = {
      id,
      workflow: target.workflow,
      ...(target.refusal !== undefined && { refusal: target.refusal }),
      attempts: [],
    };
    events.push(event);
    open.set(event, performance.now());
    void deliver(event, target.outgoing(id));
  };

  const sending = keepRate(sendNext, { rate, isAtLimit: () => isAtLimit?.(open.size) ?? false }, stop.signal);
  return {
    events,
    acceptedRate: (seconds) => countSince(accepted, performance.now() - seconds * 1_000) / seconds,
    unanswered: (olderThanMs = 0) => {
      const before = performance.now() - olderThanMs;
      return [...open.values()].filter((at) => at <= before).length;
    },
    end: async (patienceMs) => {
      stop.abort();
      await sending;
      const deadline = performance.now() + patienceMs;
      while (open.size > 0 && performance.now() < deadline) await delay(50);
      hasGivenUp = true;
      attempts.close();
    },
  };
}

/**
 * An event that deserves a refusal is settled by any answer that is one; a real sender does not repeat those
 * either.
 */
function isSettled({ refusal }: SentEvent, attempt: Attempt): boolean {
  if (isAccepted(attempt)) return true;
  return refusal !== undefined && attempt.status !== undefined && attempt.status < 500;
}

/** Also a 502 that names the run: the event was accepted, and its run failed before it answered. */
export function isAccepted(attempt: Attempt | undefined): boolean {
  if (attempt?.status === undefined) return false;
  return (attempt.status >= 200 && attempt.status < 300) || isFailedRun(attempt);
}

/** Accepted, or of an outcome that nobody knows: only a clear refusal says that nothing was started. */
export function isUncertain({ status }: Attempt): boolean {
  return status === undefined || status < 300 || status >= 500;
}

/** Whether the answer says that the run failed before it answered. */
export function isFailedRun({ status, run }: Attempt): boolean {
  return status === 502 && run !== undefined;
}

/** Twice as long each time, give or take a fifth; at least as long as the answer asks for, where it asks. */
function pauseMs(tries: number, { retryAfter }: Attempt): number {
  const doubled = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  const wanted = Math.min(Math.max(doubled, (retryAfter ?? 0) * 1_000), LONGEST_PAUSE_MS);
  return wanted * (0.8 + Math.random() * 0.4);
}

/** How long to pause: as long as asked for, or until the next repetition is due at this rate. */
function createPace(perSecond: number): (pauseMs: number) => number {
  let freeAt = 0;
  return (ms) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + 1_000 / perSecond;
    return Math.max(ms, freeAt - now);
  };
}

/**
 * What is late is sent at once, so that over any second the rate holds. A little more than asked, so that it
 * is never less. The count begins again after each time at the limit.
 */
async function keepRate(
  sendNext: () => void,
  { rate, isAtLimit }: { rate: number; isAtLimit: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  let started = performance.now();
  for (let sent = 0; !signal.aborted; ) {
    if (isAtLimit()) {
      started = performance.now();
      sent = 0;
    } else {
      const due = ((performance.now() - started) / 1_000) * rate * 1.1;
      for (; sent < due; sent += 1) sendNext();
    }
    await delay(10);
  }
}

/** The times are in order. */
function countSince(times: readonly number[], since: number): number {
  const first = times.findLastIndex((at) => at < since);
  return times.length - first - 1;
}
