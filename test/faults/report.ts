/** The report of a fault run, and everything that is known of the first violations. */
import { cpus, totalmem } from 'node:os';
import { isUnknownEffect } from './checker.ts';
import type { Violation } from './violation.ts';
import { countBy } from './counts.ts';
import type { Attempt, Evidence, FaultRecord, Loss, Measure } from './evidence.ts';
import type { FaultRun } from './load.ts';
import { isAccepted } from './sender.ts';
import { figuresOf, leastSentPerSecond, type FaultFigures } from './storm/figures.ts';

/** `command`: what makes the same run. `commit`: of the product and of the suite. */
export type ReportContext = {
  seed?: number;
  rate: number;
  date: Date;
  command: string;
  commit: string;
  /** Of a storm: whether faults were left out since this machine cannot do them. */
  leftOut?: boolean;
};

export type KindSummary = {
  kind: string;
  times: number;
  leastLoad: number;
  firstAccepted: Spread;
  backlogEnded: Spread;
};

/** In seconds. */
type Spread = { median: number | undefined; longest: number | undefined };

export type Report = {
  date: string;
  command: string;
  commit: string;
  machine: { cpus: number; memoryGiB: number };
  seed?: number;
  rate: number;
  seconds: number;
  counts: boolean;
  invalid?: string;
  events: {
    sent: number;
    accepted: number;
    refused: number;
    repeated: number;
    answers: Record<string, number>;
  };
  runs: { succeeded: number; failed: number; unknownEffects: number };
  effects: Record<string, { seen: number; repeated: number }>;
  watch: { objects: number; gaps: number };
  kinds: KindSummary[];
  faults: readonly ReportedFault[];
  /** Left out where faults came one after the other. */
  storm?: {
    leastSentPerSecond: number | undefined;
    leastLoadBefore: number;
    /** `runs`: how many the run store had then. */
    losses: readonly { at: string; runs: number }[];
    /** What the losses took, by kind of violation, and some of each. */
    taken: Record<string, number>;
    examples: readonly Violation[];
    leftOut: boolean;
  };
  measures: readonly Measure[];
  violations: Violation[];
};

export type ReportedFault = FaultRecord & { figures: FaultFigures };

const OFFENDERS = 5;
const EXAMPLES = 3;

/** The report as plain data. */
export function reportOf(run: FaultRun, context: ReportContext): Report {
  const { seed, rate, date, command, commit } = context;
  const { evidence, violations, measures, invalid, gaps, seconds } = run;
  const { events, effects, ended, faults, histories } = evidence;
  const attempts = events.flatMap((event) => event.attempts);
  const effectKinds = Map.groupBy(effects, ({ kind }) => kind);
  return {
    date: date.toISOString(),
    command,
    commit,
    machine: { cpus: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) },
    ...(seed !== undefined && { seed }),
    rate,
    seconds,
    counts: invalid === undefined,
    ...(invalid !== undefined && { invalid }),
    events: {
      sent: events.length,
      accepted: events.filter((event) => event.attempts.some(isAccepted)).length,
      refused: events.filter(({ refusal }) => refusal !== undefined).length,
      repeated: events.filter((event) => event.attempts.length > 1).length,
      answers: countBy(attempts, nameOfAnswer),
    },
    runs: {
      succeeded: ended.filter(({ phase }) => phase === 'Succeeded').length,
      failed: ended.filter(({ phase }) => phase !== 'Succeeded').length,
      unknownEffects: ended.filter(isUnknownEffect).length,
    },
    effects: Object.fromEntries(
      [...effectKinds].map(([kind, seen]) => {
        const keys = new Set(seen.map(({ key }) => key));
        return [kind, { seen: seen.length, repeated: seen.length - keys.size }];
      }),
    ),
    watch: { objects: histories.length, gaps },
    kinds: summariesOf(faults),
    faults: withFigures(faults, events),
    ...(faults.some(({ scene }) => scene !== undefined) && { storm: stormOf(run, context) }),
    measures,
    violations,
  };
}

function withFigures(faults: readonly FaultRecord[], events: Evidence['events']): ReportedFault[] {
  const figures = figuresOf(faults, events);
  return faults.flatMap((fault, index) => {
    const own = figures[index];
    return own ? [{ ...fault, figures: own }] : [];
  });
}

function stormOf({ evidence, taken }: FaultRun, { leftOut = false }: ReportContext): Report['storm'] {
  const { faults, events, losses = [] } = evidence;
  const told = ({ at, runs }: Loss) => ({ at: new Date(at).toISOString(), runs: runs.length });
  const kinds = Map.groupBy(taken, ({ kind }) => kind);
  return {
    leastSentPerSecond: leastSentPerSecond(faults, events),
    leastLoadBefore: Math.floor(Math.min(...faults.map(({ loadBefore }) => loadBefore))),
    losses: losses.map(told),
    taken: countBy(taken, ({ kind }) => kind),
    examples: [...kinds.values()].flatMap((each) => each.slice(0, EXAMPLES)),
    leftOut,
  };
}

const nameOfAnswer = ({ status, error }: Attempt): string => String(status ?? error ?? 'no answer');

/** Of faults at chosen moments, most have no event near that would show this. */
function summariesOf(faults: readonly FaultRecord[]): KindSummary[] {
  const timed = faults.filter(({ moment }) => moment === undefined);
  return [...Map.groupBy(timed, ({ kind }) => kind)].map(([kind, each]) => ({
    kind,
    times: each.length,
    leastLoad: Math.floor(Math.min(...each.map(({ loadBefore }) => loadBefore))),
    firstAccepted: spreadOf(each.map(({ firstAcceptedSeconds }) => firstAcceptedSeconds)),
    backlogEnded: spreadOf(each.map(({ backlogEndedSeconds }) => backlogEndedSeconds)),
  }));
}

/** Undefined where one of them never came. */
function spreadOf(values: readonly (number | undefined)[]): Spread {
  const known = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  if (known.length < values.length) return { median: undefined, longest: undefined };
  return { median: known[Math.floor(known.length / 2)], longest: known.at(-1) };
}

/** Everything that is known of the first events and runs that broke a promise. */
export function offendersOf(violations: readonly Violation[], evidence: Evidence): unknown[] {
  return violations.slice(0, OFFENDERS).map((violation) => {
    const byRun = evidence.histories.find(({ run }) => run === violation.run)?.event;
    const event = violation.event ?? byRun;
    const sent = evidence.events.find(
      ({ id, attempts }) =>
        id === event || attempts.some(({ run }) => run !== undefined && run === violation.run),
    );
    const runs = new Set([violation.run, ...(sent?.attempts.map(({ run }) => run) ?? [])]);
    return {
      violation,
      sent,
      runs: evidence.ended.filter(({ run }) => runs.has(run)),
      histories: evidence.histories.filter(({ run }) => runs.has(run)),
      effects: evidence.effects.filter((effect) => sent !== undefined && effect.event === sent.id),
      faults: evidence.faults.filter(({ at, endedAt }) => wasDuring(sent?.attempts ?? [], at, endedAt)),
    };
  });
}

const wasDuring = (attempts: readonly Attempt[], at: number, endedAt: number): boolean =>
  attempts.some((attempt) => attempt.at <= endedAt + 10_000 && attempt.at + attempt.ms >= at);
