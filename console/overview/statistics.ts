/** Statistics of a project's runs. Test runs count only for tokens and among unfinished runs. */
import { isTerminal, type RunPhase } from '../../api/phase.ts';
import type { RunItem } from '../../api/runView.ts';
import { failureText } from '../runs/live/failureText.ts';
import { messageParts } from '../runs/live/runMessage.ts';
import { count } from '../ui/format.ts';

/** Times are milliseconds since 1970. */
export type CountedRun = {
  run: string;
  workflow: string;
  phase: RunPhase;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  reason?: string;
  message?: string;
};

export type Period = {
  id: '24h' | '7d';
  label: string;
  /** The time that one bar covers. */
  stepMs: number;
  steps: number;
};

const HOUR = 3_600_000;

export const PERIODS: readonly Period[] = [
  { id: '24h', label: 'Last 24 hours', stepMs: HOUR, steps: 24 },
  { id: '7d', label: 'Last 7 days', stepMs: 6 * HOUR, steps: 28 },
];

/** The start of the period, aligned to steps so that the last step is the current one. */
export function beginOf({ stepMs, steps }: Period, now: number): number {
  return (Math.floor(now / stepMs) + 1) * stepMs - steps * stepMs;
}

/** The start of each step. */
function stepsOf(period: Period, now: number): number[] {
  const begin = beginOf(period, now);
  return Array.from({ length: period.steps }, (_, step) => begin + step * period.stepMs);
}

/** Groups items by step. Items outside the period are dropped. */
function byStep<T>(items: T[], period: Period, now: number, timeOf: (item: T) => number): T[][] {
  const begin = beginOf(period, now);
  const groups: T[][] = Array.from({ length: period.steps }, () => []);
  for (const item of items) groups[Math.floor((timeOf(item) - begin) / period.stepMs)]?.push(item);
  return groups;
}

export type Throughput = { at: number; succeeded: number; failed: number; cancelled: number; open: number };

/** The number of accepted runs per step, by result. */
export function throughput(runs: CountedRun[], period: Period, now: number): Throughput[] {
  const groups = byStep(runs, period, now, ({ acceptedAt }) => acceptedAt);
  return stepsOf(period, now).map((at, step) => {
    const phases = (groups[step] ?? []).map(({ phase }) => phase);
    const number = (phase: RunPhase) => phases.filter((one) => one === phase).length;
    return {
      at,
      succeeded: number('Succeeded'),
      failed: number('Failed'),
      cancelled: number('Cancelled'),
      open: phases.filter((phase) => !isTerminal(phase)).length,
    };
  });
}

export type Totals = { runs: number; succeeded: number; failed: number; cancelled: number; open: number };

export function totals(parts: Throughput[]): Totals {
  const sum = (key: keyof Omit<Totals, 'runs'>) => parts.reduce((all, part) => all + part[key], 0);
  const [succeeded, failed, cancelled, open] = [
    sum('succeeded'),
    sum('failed'),
    sum('cancelled'),
    sum('open'),
  ];
  return { runs: succeeded + failed + cancelled + open, succeeded, failed, cancelled, open };
}

/** The totals as a sentence: "1,622 runs: 1,613 succeeded, …". */
export function totalsText({ runs, succeeded, failed, cancelled, open }: Totals): string {
  if (runs === 0) return 'No runs.';
  const parts = Object.entries({ succeeded, failed, cancelled, unfinished: open });
  const list = parts
    .filter(([, number]) => number > 0)
    .map(([phase, number]) => `${number.toLocaleString('en')} ${phase}`);
  return `${count(runs, 'run')}: ${list.join(', ')}.`;
}

/**
 * Runs that have not ended. `running`: a runner executes them. `tests`: how many of both are test runs;
 * undefined where only the status of the workflow is known.
 */
export type Unfinished = { running: number; waiting: number; tests?: number };

export function unfinishedIn(items: readonly Pick<RunItem, 'phase' | 'test'>[]): Unfinished {
  const open = items.filter(({ phase }) => !isTerminal(phase));
  const running = open.filter(({ phase }) => phase === 'Running').length;
  return {
    running,
    waiting: open.length - running,
    tests: open.filter(({ test }) => test === true).length,
  };
}

export function openCount({ running, waiting }: Pick<Unfinished, 'running' | 'waiting'>): number {
  return running + waiting;
}

/**
 * The items with the runs that are unfinished now, where those were read: the status of a workflow is
 * older.
 */
export function withUnfinished<T extends Pick<Unfinished, 'running' | 'waiting'> & { name: string }>(
  items: readonly T[],
  read: ReadonlyMap<string, Unfinished>,
): (T & Unfinished)[] {
  return items.map((item) => ({ ...item, ...read.get(item.name) }));
}

/** How many unfinished runs are test runs; undefined where it is unknown of a workflow with such runs. */
export function testsAmong(items: readonly Unfinished[]): number | undefined {
  const open = items.filter((item) => openCount(item) > 0);
  const known = open.flatMap(({ tests }) => tests ?? []);
  return known.length === open.length ? known.reduce((sum, tests) => sum + tests, 0) : undefined;
}

/** The cause of a failure: a reason of the API, and the failed node. */
export type Cause = { reason: string; node?: string };

/** If a node failed, the node and its reason are in the message of the run. */
export function causeOf({
  reason = 'NodeFailed',
  message = '',
}: Pick<CountedRun, 'reason' | 'message'>): Cause {
  const { node, rest = '' } = messageParts(message) ?? {};
  const [, own] = /^([A-Z]\w+): /.exec(rest) ?? [];
  return reason === 'NodeFailed' && node !== undefined && own !== undefined
    ? { reason: own, node }
    : { reason };
}

/** The message without the cause, which is shown above it. */
export function detailOf(run: Pick<CountedRun, 'reason' | 'message'>): string | undefined {
  const { reason, node } = causeOf(run);
  const from = node === undefined ? 0 : `node ${node}: ${reason}: `.length;
  return run.message === undefined ? undefined : failureText(run.message.slice(from));
}

/** The percentile by nearest rank. */
export function percentile(values: number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export type Durations = { at: number; p50?: number; p95?: number };

/** Percentiles of the durations per step, in milliseconds from the start of execution. */
export function durations(runs: CountedRun[], period: Period, now: number): Durations[] {
  const ended = runs.filter((run) => lasted(run) !== undefined);
  const groups = byStep(ended, period, now, ({ endedAt = 0 }) => endedAt);
  return stepsOf(period, now).map((at, step) => ({ at, ...spread(groups[step] ?? []) }));
}

/** Median and 95th percentile of the durations. */
export function spread(runs: CountedRun[]): { p50?: number; p95?: number } {
  const values = runs.flatMap((run) => lasted(run) ?? []);
  const [p50, p95] = [percentile(values, 0.5), percentile(values, 0.95)];
  return p50 === undefined || p95 === undefined ? {} : { p50, p95 };
}

const AXIS_UNITS = [
  { unit: 'ms', ms: 1 },
  { unit: 's', ms: 1_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 'h', ms: 3_600_000 },
] as const;
/** At most about so many steps. */
const AXIS_STEPS = 4;

export type Axis = { ticks: number[]; text: (ms: number) => string };

/** An axis of durations up to the longest one, in one unit and in round steps. */
export function durationAxis(most: number): Axis {
  const longest = Math.max(most, 1);
  const { unit, ms } = AXIS_UNITS.findLast(({ ms: size }) => longest >= size) ?? AXIS_UNITS[0];
  const step = Math.max(roundUp(longest / ms / AXIS_STEPS), 1 / ms);
  const steps = Math.ceil(longest / ms / step);
  return {
    ticks: Array.from({ length: steps + 1 }, (_, at) => Math.round(at * step * ms)),
    text: (value) => `${Number((value / ms).toFixed(2))} ${unit}`,
  };
}

/** The next number of 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((times) => times * power >= value) ?? 10) * power;
}

function lasted({ phase, startedAt, endedAt }: CountedRun): number | undefined {
  if (phase === 'Cancelled' || startedAt === undefined || endedAt === undefined) return undefined;
  return Math.max(0, endedAt - startedAt);
}

export type Usage = { at: number; input: number; output: number };
export type Tokens = { at: number; input: number; output: number };

export function tokens(usages: Usage[], period: Period, now: number): Tokens[] {
  const groups = byStep(usages, period, now, ({ at }) => at);
  return stepsOf(period, now).map((at, step) => {
    const sum = (key: 'input' | 'output') => (groups[step] ?? []).reduce((all, usage) => all + usage[key], 0);
    return { at, input: sum('input'), output: sum('output') };
  });
}
