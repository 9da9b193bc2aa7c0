/**
 * What a run store that loses its data may take with it, by the table of docs/run-store.md. Everything else
 * stays a violation. Pure.
 */
import type { Violation, ViolationKind } from './violation.ts';
import type { Evidence, SentEvent } from './evidence.ts';

/**
 * What may become of a run that the store had when it lost its data, and of an event that was being sent just
 * then. Not a repetition of an `AtMostOnce` step: it becomes `Unknown`.
 */
const TAKEN = new Set<ViolationKind>([
  'lost',
  'twice',
  'effect-missing',
  'effect-under-two-keys',
  'effect-after-end',
  'node-ended-twice',
  'another-run',
  'key-lost',
  'phase-changed',
  'failed',
]);

/** Parts what no loss excuses from what a loss took. */
export function excuse(
  found: readonly Violation[],
  evidence: Evidence,
): { violations: Violation[]; taken: Violation[] } {
  if ((evidence.losses ?? []).length === 0) return { violations: [...found], taken: [] };
  const { runs, events, keys } = affected(evidence);
  const isTaken = ({ kind, run = '', event = '' }: Violation) =>
    (TAKEN.has(kind) && (runs.has(run) || events.has(event))) || (kind === 'key-lost' && keys.has(event));
  return {
    violations: found.filter((violation) => !isTaken(violation)),
    taken: found.filter(isTaken),
  };
}

type Affected = { runs: Set<string>; events: Set<string>; keys: Set<string> };

function affected({ losses = [], events, effects, histories, keyed }: Evidence): Affected {
  const runs = new Set(losses.flatMap((loss) => loss.runs));
  const of = new Set<string>();
  const tie = (event: string, run = '') => void (runs.has(run) && of.add(event));
  for (const [event, run] of Object.entries(keyed)) tie(event, run);
  for (const { event, run } of [...effects, ...histories]) tie(event, run);
  for (const { id, attempts } of events) {
    for (const { run } of attempts) tie(id, run);
    if (losses.some(({ at }) => isOpen(attempts, at))) of.add(id);
  }
  // Their keys come back only where the run still has a record.
  const before = events.filter(({ attempts }) => losses.some(({ at }) => (attempts[0]?.at ?? at) < at));
  return { runs, events: of, keys: new Set(before.map(({ id }) => id)) };
}

/** Whether the event had been sent, and its sender did not know yet that it was accepted. */
function isOpen(attempts: SentEvent['attempts'], at: number): boolean {
  const [first, last] = [attempts[0], attempts.at(-1)];
  return first !== undefined && last !== undefined && first.at <= at && last.at + last.ms >= at;
}
