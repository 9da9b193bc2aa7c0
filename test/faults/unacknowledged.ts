/**
 * Runs that a failover took and of which no sender was told: their events got no 2xx before it, and were sent
 * again. docs/run-store.md allows that such a run has done steps, but none that is `AtMostOnce`. Pure.
 */
import { AT_MOST_ONCE } from './effects.ts';
import type { Evidence, SentEvent } from './evidence.ts';
import { isAccepted, isUncertain } from './sender.ts';
import type { Violation } from './violation.ts';

/**
 * The evidence without these runs and their effects that may be repeated, to which all promises apply, and
 * each such run.
 */
export function withoutUnacknowledged(evidence: Evidence): { evidence: Evidence; taken: Violation[] } {
  const { failovers = [], events, effects, histories, keyed } = evidence;
  if (failovers.length === 0) return { evidence, taken: [] };
  const open = new Map(
    events.filter((event) => isOpenIn(event, failovers)).map((event) => [event.id, event]),
  );
  const taken = new Map<string, string>();
  for (const { event, run } of [...effects, ...histories]) {
    const sent = open.get(event);
    if (run !== undefined && sent && keyed[event] !== run && !isTold(sent, run)) taken.set(run, event);
  }
  const withSummary = takenWithSummary(evidence, failovers).filter((run) => !taken.has(run));
  return {
    evidence: {
      ...evidence,
      effects: effects.filter(({ run = '', kind }) => !taken.has(run) || AT_MOST_ONCE.includes(kind)),
      histories: histories.filter(({ run }) => !taken.has(run)),
      unacknowledged: [...taken.keys(), ...withSummary],
    },
    taken: [
      ...[...taken].map(([run, event]) => lostRun(run, event)),
      ...withSummary.map((run) => lostRun(run)),
    ],
  };
}

function lostRun(run: string, event?: string): Violation {
  const whose = event === undefined ? run : `${run} of ${event}`;
  const message = `a failover took ${whose}, of which no sender was told`;
  return { kind: 'lost', run, message, ...(event !== undefined && { event }) };
}

/** A run that was accepted so long before a failover may still wait for a confirmation that never comes. */
const UNCONFIRMED_MS = 2_000;

/**
 * Runs that were taken after their summary was read: neither a key nor an answer names them. Runs without
 * steps that do something outside leave nothing but that summary.
 */
function takenWithSummary(
  { ended, events, keyed }: Evidence,
  failovers: readonly { from: number; until: number }[],
): string[] {
  const answers = events.flatMap(({ attempts }) => attempts.filter(isAccepted));
  const known = new Set([...Object.values(keyed), ...answers.map(({ run }) => run)]);
  const isOfFailover = (at: number) =>
    failovers.some(({ from, until }) => at >= from - UNCONFIRMED_MS && at <= until);
  return ended
    .filter(({ run, acceptedAt }) => !known.has(run) && isOfFailover(acceptedAt))
    .map(({ run }) => run);
}

/** Whether an attempt of an unknown outcome falls into one of these times. */
function isOpenIn({ attempts }: SentEvent, times: readonly { from: number; until: number }[]): boolean {
  const unknown = attempts.filter((attempt) => isUncertain(attempt) && !isAccepted(attempt));
  return unknown.some(({ at, ms }) => times.some(({ from, until }) => at <= until && at + ms >= from));
}

const isTold = ({ attempts }: SentEvent, run: string): boolean =>
  attempts.some((attempt) => isAccepted(attempt) && attempt.run === run);
