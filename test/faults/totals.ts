/**
 * Compares the run store's own sums with what was sent and accepted: each event once, and nothing else. Pure.
 */
import type { EndedRun, Evidence, SentEvent, Totals } from './evidence.ts';
import { isAccepted, isUncertain } from './sender.ts';
import { unaccounted } from './unaccounted.ts';
import type { Violation } from './violation.ts';

/** Of every workflow: runs that ended, runs that were accepted, and runs that are listed. */
export function checkTotals(evidence: Evidence): Violation[] {
  const sent = Map.groupBy(evidence.events, ({ workflow }) => workflow);
  return evidence.totals.flatMap((totals) => {
    const good = (sent.get(totals.workflow) ?? []).filter(({ refusal }) => refusal === undefined);
    const bounds = boundsOf(totals.workflow, good, evidence);
    return [...checkSum(totals, bounds, evidence), ...checkAccepted(totals, bounds, evidence)];
  });
}

/**
 * How many runs the store must have accepted since it last lost its data, and how many it may have beside
 * them.
 */
type Bounds = { sure: number; maybe: number };

function boundsOf(
  workflow: string,
  events: readonly SentEvent[],
  { losses = [], unacknowledged = [] }: Evidence,
): Bounds {
  const loss = losses.at(-1);
  const since = loss?.at ?? -Infinity;
  const sure = events.filter(({ attempts }) =>
    attempts.some((attempt) => isAccepted(attempt) && attempt.at >= since),
  );
  const others = events.filter(
    (event) =>
      !sure.includes(event) && event.attempts.some((each) => isUncertain(each) && ends(each) >= since),
  );
  // The operator may have restored them from their records.
  const restored = [...(loss?.runs ?? []), ...unacknowledged].filter((run) => run.startsWith(`${workflow}-`));
  return { sure: sure.length, maybe: others.length + restored.length };
}

const ends = ({ at, ms }: SentEvent['attempts'][number]): number => at + ms;

function checkSum(totals: Totals, { sure, maybe }: Bounds, evidence: Evidence): Violation[] {
  const { workflow, succeeded, failed, cancelled, active } = totals;
  const sum = succeeded + failed + cancelled;
  const told = `${workflow}: ${sure} events were accepted`;
  if (active > 0) return [{ kind: 'lost', message: `${told}, and ${active} runs have not ended` }];
  if (sum < sure) return [{ kind: 'lost', message: `${told}, and ${sum} runs ended` }];
  if (sum > sure + maybe) {
    return [tooMany(evidence, { workflow, active, told: `${told}, and ${sum} runs ended` })];
  }
  const ended = evidence.ended.filter((run) => run.workflow === workflow).length;
  const listed = evidence.listed ? (evidence.listed[workflow] ?? 0) : ended;
  // Runs that a failover took are listed if their summaries were read before it.
  const { unacknowledged = [] } = evidence;
  const taken = unacknowledged.filter((run) => run.startsWith(`${workflow}-`)).length;
  if (sum <= listed && listed <= sum + taken) return [];
  return [
    { kind: 'totals-differ', message: `${workflow}: ${sum} runs are counted, and ${listed} are listed` },
  ];
}

/** The store counts acceptances itself, and has a key for each: both say how many events it took. */
function checkAccepted(
  { workflow, accepted }: Totals,
  { sure, maybe }: Bounds,
  { events, keyed, losses = [], unacknowledged = [] }: Evidence,
): Violation[] {
  const told = `${workflow}: the run store counts ${accepted} accepted events`;
  if (accepted < sure || accepted > sure + maybe) {
    const message = `${told}, and senders were told of ${sure} and may not have been told of ${maybe}`;
    return [{ kind: 'accepted-differs', message }];
  }
  const keys = events.filter((event) => event.workflow === workflow && keyed[event.id] !== undefined).length;
  // A store that lost its data is given the keys of recorded runs again, which it did not accept.
  if (losses.length > 0 || (keys <= accepted && accepted <= keys + unacknowledged.length)) return [];
  return [{ kind: 'accepted-differs', message: `${told}, and has the keys of ${keys}` }];
}

const NAMED = 5;

/** Names what may explain the sum: an end that was counted twice, or runs that no event accounts for. */
function tooMany(
  evidence: Evidence,
  { workflow, active, told }: Pick<Totals, 'workflow' | 'active'> & { told: string },
): Violation {
  const runs = unaccounted(evidence, workflow);
  const named = runs.slice(0, NAMED).map(describe).join(', ');
  const listed = evidence.ended.filter((run) => run.workflow === workflow).length;
  const counted = active < 0 ? `, ${-active} more than the run store accepted` : '';
  const whose = named === '' ? 'each may be that of an event' : `no event accounts for ${named}`;
  const message = `${told}${counted}; ${listed} are listed, and ${whose}`;
  const [first] = runs;
  return { kind: 'twice', ...(first && { run: first.run }), message };
}

function describe({ run, phase, trigger = 'unknown', acceptedAt }: EndedRun): string {
  return `${run} (${phase}, started by ${trigger}, accepted ${new Date(acceptedAt).toISOString()})`;
}
