/**
 * Judges the evidence of a fault run: every promise that was broken, with the event or run that shows it.
 * Pure.
 */
import { AT_MOST_ONCE, type Effect } from './effects.ts';
import type { EndedRun, Evidence, SentEvent } from './evidence.ts';
import { checkExecutions, wallTimes } from './execution.ts';
import { excuse } from './losses.ts';
import { isAccepted, isFailedRun, isUncertain } from './sender.ts';
import { checkTotals } from './totals.ts';
import { withoutUnacknowledged } from './unacknowledged.ts';
import type { Violation } from './violation.ts';

const TERMINAL = new Set(['Succeeded', 'Failed', 'Cancelled']);
/** After the last fault, every run has ended within this time. */
export const ENDED_WITHIN_MS = 120_000;

/** What may be answered to a good event while something is away. All else is wrong: a 404 most of all. */
const EXCUSED = new Set([503, 504]);

type Index = {
  evidence: Evidence;
  ended: Map<string, EndedRun>;
  /** By event: the names of its runs, from answers, keys, effects and the input of its records. */
  runsOf: Map<string, Set<string>>;
  effectsOf: Map<string, Effect[]>;
};

/** All violations, the gravest first. */
export function check(evidence: Evidence): Violation[] {
  return judge(evidence).violations;
}

/** All violations, and beside them what would be one without a loss of data or a failover just then. */
export function judge(whole: Evidence): { violations: Violation[]; taken: Violation[] } {
  const { evidence, taken } = withoutUnacknowledged(whole);
  const index = indexOf(evidence);
  const found = [
    ...evidence.events.flatMap((event) => checkAcceptance(event, index)),
    ...evidence.events.flatMap((event) => checkRuns(event, index)),
    ...evidence.events.flatMap((event) => checkKeys(event, index)),
    ...evidence.events.flatMap((event) => checkEffects(event, index)),
    ...checkExecutions(evidence),
    ...checkEnds(index),
    ...checkHistories(index),
    ...evidence.events.flatMap((event) => checkAnswers(event, index)),
    ...checkTotals(evidence),
  ];
  const judged = excuse(found, evidence);
  return { violations: judged.violations, taken: [...taken, ...judged.taken] };
}

function indexOf(evidence: Evidence): Index {
  const runsOf = new Map<string, Set<string>>();
  const add = (event: string, run: string) => {
    const runs = runsOf.get(event) ?? new Set();
    runsOf.set(event, runs.add(run));
  };
  for (const { id, attempts } of evidence.events) {
    for (const { run } of attempts) if (run !== undefined) add(id, run);
  }
  for (const { event, run } of evidence.histories) if (event !== '') add(event, run);
  for (const { event, run } of evidence.effects) if (event !== '' && run !== undefined) add(event, run);
  for (const [event, run] of Object.entries(evidence.keyed)) add(event, run);
  const effectsOf = Map.groupBy(evidence.effects, ({ event }) => event);
  return { evidence, ended: new Map(evidence.ended.map((run) => [run.run, run])), runsOf, effectsOf };
}

/** Whatever was accepted has a run that ended; whatever deserved a refusal got it and has none. */
function checkAcceptance(event: SentEvent, { runsOf, ended, effectsOf }: Index): Violation[] {
  const { id, refusal, attempts } = event;
  const runs = [...(runsOf.get(id) ?? [])];
  if (refusal !== undefined) {
    const wasRun = runs.length > 0 || effectsOf.has(id) || attempts.some(isAccepted);
    const message = `${id} deserved ${refusal} and was run`;
    return wasRun ? [{ kind: 'refused-and-run', event: id, message }] : [];
  }
  if (!attempts.some(isAccepted)) {
    const message = `${id} was never accepted, in ${attempts.length} attempts`;
    return [{ kind: 'never-accepted', event: id, message }];
  }
  // An answer of a response node names no run; then the totals and the sums of ended runs have to do.
  const open = runs.filter((run) => !ended.has(run));
  return open.map((run) => ({
    kind: 'lost' as const,
    event: id,
    run,
    message: `${id} was accepted as ${run}, which never ended`,
  }));
}

function checkRuns({ id }: SentEvent, { runsOf }: Index): Violation[] {
  const runs = [...(runsOf.get(id) ?? [])];
  if (runs.length < 2) return [];
  return [{ kind: 'twice', event: id, message: `${id} has ${runs.length} runs: ${runs.join(', ')}` }];
}

/** An accepted event has its key, and whoever answers or has an effect for it is the run of that key. */
function checkKeys({ id, refusal, attempts }: SentEvent, { evidence, effectsOf }: Index): Violation[] {
  if (refusal !== undefined || !attempts.some(isAccepted)) return [];
  const keyed = evidence.keyed[id];
  if (keyed === undefined) {
    return [
      { kind: 'key-lost', event: id, message: `${id} was accepted, and the run store has no such key` },
    ];
  }
  const answers = attempts.flatMap(({ run }) => (run === undefined ? [] : [`an answer names ${run}`]));
  const effects = (effectsOf.get(id) ?? []).flatMap(({ kind, run }) =>
    run === undefined ? [] : [`${kind} is of ${run}`],
  );
  const other = [...answers, ...effects].find((told) => !told.endsWith(` ${keyed}`));
  if (other === undefined) return [];
  return [
    { kind: 'another-run', event: id, run: keyed, message: `${id} is known as ${keyed}, and ${other}` },
  ];
}

/**
 * What the event's workflow does outside was done as its effect declares, unless the run says that it cannot
 * know.
 */
function checkEffects(event: SentEvent, { evidence, effectsOf, runsOf, ended }: Index): Violation[] {
  const { id, workflow, refusal, attempts } = event;
  if (refusal !== undefined) return [];
  const [run] = runsOf.get(id) ?? [];
  const phase = run === undefined ? undefined : ended.get(run)?.phase;
  const declared = Map.groupBy(evidence.effectsOf[workflow] ?? [], (kind) => kind);
  return [...declared].flatMap(([kind, { length: steps }]): Violation[] => {
    const seen = (effectsOf.get(id) ?? []).filter((effect) => effect.kind === kind);
    const byNode = Map.groupBy(seen, ({ node }) => node);
    const about = { event: id, ...(run !== undefined && { run }) };
    const repeated = [...byNode.values()].flatMap((effects) => checkRepetition(id, effects));
    if (repeated[0]) return [{ ...repeated[0], ...about }];
    if (seen.length > 0 && !attempts.some(isUncertain)) {
      const message = `${kind} of ${id} was sent, and nobody can have accepted the event`;
      return [{ kind: 'effect-of-nothing', ...about, message }];
    }
    if (byNode.size < steps && phase === 'Succeeded') {
      const message = `${run} of ${id} succeeded without its ${kind}`;
      return [{ kind: 'effect-missing', ...about, message }];
    }
    return [];
  });
}

/** Effects of one step of one event. */
function checkRepetition(event: string, effects: readonly Effect[]): Violation[] {
  const [{ kind } = { kind: 'http' as const }] = effects;
  const keys = new Set(effects.map(({ key }) => key));
  if (keys.size > 1) {
    const message = `${kind} of ${event} was sent under ${keys.size} keys: ${[...keys].join(', ')}`;
    return [{ kind: 'effect-under-two-keys', message }];
  }
  if (effects.length < 2 || !AT_MOST_ONCE.includes(kind)) return [];
  return [{ kind: 'effect-twice', message: `${kind} of ${event} was sent ${effects.length} times` }];
}

function checkEnds({ evidence }: Index): Violation[] {
  const names = new Set<string>();
  const lastFault = Math.max(0, ...evidence.faults.map(({ endedAt }) => endedAt));
  return evidence.ended.flatMap((run): Violation[] => {
    const about = { run: run.run };
    const found: Violation[] = [];
    if (names.has(run.run)) {
      found.push({ kind: 'twice', ...about, message: `${run.run} ended twice` });
    }
    names.add(run.run);
    const endedAt = Math.min(...wallTimes(run.endedAt, evidence.slips));
    const lateMs = endedAt - Math.max(lastFault, run.acceptedAt);
    if (lastFault > 0 && lateMs > ENDED_WITHIN_MS) {
      const message = `${run.run} ended ${Math.round(lateMs / 1_000)} s after the last fault`;
      found.push({ kind: 'late', ...about, message });
    }
    if (run.phase !== 'Succeeded' && !isUnknownEffect(run)) {
      const why = [run.reason, run.message].filter(Boolean).join(': ');
      found.push({ kind: 'failed', ...about, message: `${run.run} is ${run.phase} (${why})` });
    }
    return found;
  });
}

/**
 * A run that failed because an effect may have happened and nobody can know: as declared, and counted by the
 * report.
 */
export function isUnknownEffect({ phase, reason }: EndedRun): boolean {
  return phase === 'Failed' && reason === 'EffectUnknown';
}

function checkHistories({ evidence, ended }: Index): Violation[] {
  const isSeen = evidence.histories.some(({ phases }) => phases.some((phase) => TERMINAL.has(phase)));
  // Who watches nothing sees no phase change.
  if (evidence.ended.length > 0 && !isSeen) {
    return [{ kind: 'not-recorded', message: 'runs ended, and no record was seen to say so' }];
  }
  return evidence.histories.flatMap(({ run, phases }): Violation[] => {
    const first = phases.findIndex((phase) => TERMINAL.has(phase));
    if (first === -1) return [];
    const told = phases.slice(first);
    const summary = ended.get(run)?.phase;
    if (summary !== undefined && summary !== told[0]) told.push(`${summary} in the run store`);
    if (told.length === 1) return [];
    return [{ kind: 'phase-changed', run, message: `${run} was ${told.join(', then ')}` }];
  });
}

/**
 * Refusals have the status that they deserve; good events are never told anything that makes a sender give
 * up, or another's answer.
 */
function checkAnswers({ id, refusal, attempts }: SentEvent, { ended }: Index): Violation[] {
  const another = attempts.find(({ event }) => event !== undefined && event !== id);
  if (another) {
    return [{ kind: 'wrong-answer', event: id, message: `${id} got the answer to ${another.event}` }];
  }
  const wrong = attempts.filter((attempt) => {
    const { status, retryAfter, problem, run = '' } = attempt;
    if (status === undefined) return false;
    if (status === 503) return problem !== undefined && retryAfter === undefined;
    if (isFailedRun(attempt)) return ended.get(run)?.phase !== 'Failed';
    return status !== refusal && !EXCUSED.has(status) && !(refusal === undefined && isAccepted(attempt));
  });
  return wrong.slice(0, 1).map(({ status, problem = '' }) => ({
    kind: 'wrong-answer' as const,
    event: id,
    message: `${id} was answered ${status} ${problem}${status === 503 ? ' without Retry-After' : ''}`,
  }));
}
