/** Runs that no event accounts for, so that a sum that is too large can be explained. Pure. */
import type { EndedRun, Evidence, SentEvent } from './evidence.ts';

/** From when until when an event was on its way: its run was accepted in between. */
type Window = { from: number; until: number };

/** The clocks of the run store and of the sender are those of one machine, read a moment apart. */
const SLACK_MS = 50;

/**
 * Runs of the workflow that neither an answer nor a record ties to an event that was sent, and that were not
 * accepted while one was on its way whose answer names no run. Of several that fit an event the first is
 * taken for its run; so what is left may be a neighbour.
 */
export function unaccounted(evidence: Evidence, workflow: string): EndedRun[] {
  const events = evidence.events.filter((event) => event.workflow === workflow);
  const runsOf = tiedRuns(events, evidence);
  const tied = new Set([...runsOf.values()].flat());
  const windows = events
    .filter(({ id, attempts }) => !runsOf.has(id) && attempts.length > 0)
    .map(windowOf)
    .toSorted((a, b) => a.from - b.from);
  const runs = evidence.ended.filter((run) => run.workflow === workflow && !tied.has(run.run));
  return unmatched(runs, windows);
}

function tiedRuns(
  events: readonly SentEvent[],
  { histories }: Evidence,
): ReadonlyMap<string, readonly string[]> {
  const recorded = Map.groupBy(histories, ({ event }) => event);
  const pairs = events.map(({ id, attempts }) => {
    const named = attempts.flatMap(({ run }) => run ?? []);
    return [id, [...named, ...(recorded.get(id) ?? []).map(({ run }) => run)]] as const;
  });
  return new Map(pairs.filter(([, runs]) => runs.length > 0));
}

function windowOf({ attempts }: SentEvent): Window {
  return {
    from: Math.min(...attempts.map(({ at }) => at)) - SLACK_MS,
    until: Math.max(...attempts.map(({ at, ms }) => at + ms)) + SLACK_MS,
  };
}

/**
 * Each run takes, of the windows that it lies in, the one that closes first: so as many as possible find one.
 */
function unmatched(runs: readonly EndedRun[], windows: readonly Window[]): EndedRun[] {
  const left = [...windows];
  return runs
    .toSorted((a, b) => a.acceptedAt - b.acceptedAt)
    .filter(({ acceptedAt: at }) => {
      const fitting = left.filter(({ from, until }) => from <= at && at <= until);
      const first = fitting.toSorted((a, b) => a.until - b.until)[0];
      if (first) left.splice(left.indexOf(first), 1);
      return !first;
    });
}
