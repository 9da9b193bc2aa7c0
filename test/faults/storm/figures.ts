/** Figures about one fault: what became of events while it lasted. Pure. */
import type { Attempt, FaultRecord, SentEvent } from '../evidence.ts';
import { isAccepted } from '../sender.ts';

export type FaultFigures = {
  /** Events that came for the first time while it lasted. */
  came: number;
  /** Answers to good events while it lasted: 2xx, any other status, none at all. */
  accepted: number;
  refused: number;
  unanswered: number;
  /** The longest time without a 2xx that began before its end and ended after its beginning. */
  longestPauseSeconds: number;
};

/** For each fault, in the order given. */
export function figuresOf(faults: readonly FaultRecord[], events: readonly SentEvent[]): FaultFigures[] {
  const good = events.filter(({ refusal }) => refusal === undefined);
  const attempts = good.flatMap((event) => event.attempts);
  const accepted = attempts
    .filter(isAccepted)
    .map(answeredAt)
    .toSorted((a, b) => a - b);
  return faults.map(({ at, endedAt }) => {
    const isDuring = (time: number | undefined) => time !== undefined && time >= at && time <= endedAt;
    const during = attempts.filter((attempt) => isDuring(answeredAt(attempt)));
    return {
      came: good.filter(({ attempts: [first] }) => isDuring(first?.at)).length,
      accepted: during.filter(isAccepted).length,
      refused: during.filter((attempt) => attempt.status !== undefined && !isAccepted(attempt)).length,
      unanswered: during.filter(({ status }) => status === undefined).length,
      longestPauseSeconds: longestPause(accepted, at, endedAt) / 1_000,
    };
  });
}

const answeredAt = ({ at, ms }: Attempt): number => at + ms;

function longestPause(accepted: readonly number[], from: number, until: number): number {
  const pauses = accepted.slice(1).map((next, index) => ({ begin: accepted[index] ?? next, end: next }));
  const touching = pauses.filter(({ begin, end }) => begin <= until && end >= from);
  return Math.max(0, ...touching.map(({ begin, end }) => end - begin));
}

/** The fewest events that were sent in any whole second between the first and the last fault's end. */
export function leastSentPerSecond(
  faults: readonly FaultRecord[],
  events: readonly SentEvent[],
): number | undefined {
  const from = Math.min(...faults.map(({ at }) => at));
  const until = Math.max(...faults.map(({ endedAt }) => endedAt));
  const counts: number[] = Array.from({ length: Math.max(0, Math.floor((until - from) / 1_000)) }, () => 0);
  for (const { attempts } of events) {
    const second = Math.floor(((attempts[0]?.at ?? -Infinity) - from) / 1_000);
    if (second in counts) counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts.length === 0 ? undefined : Math.min(...counts);
}
