/** Statistics of a project's runs. Test runs count only for tokens. */
import { isTerminal, type RunPhase } from '../../api/phase.ts';
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
  const parts = { succeeded, failed, cancelled, running: open };
  const list = Object.entries(parts).map(([phase, runs]) => `${runs.toLocaleString('en')} ${phase}`);
  return `${count(runs, 'run')}: ${list.join(', ')}.`;
}

/** The cause of a failure: a reason of the API, and the failed node. */
export type Cause = { reason: string; node?: string };

/** If a node failed, the node and its reason are in the message of the run. */
export function causeOf({
  reason = 'NodeFailed',
  message = '',
}: Pick<CountedRun, 'reason' | 'message'>): Cause {
  const [, node, own] = /^node (\w+): ([A-Z]\w+): /.exec(message) ?? [];
  return reason === 'NodeFailed' && node !== undefined && own !== undefined
    ? { reason: own, node }
    : { reason };
}

/** The message without the cause, which is shown above it. */
export function detailOf(run: Pick<CountedRun, 'reason' | 'message'>): string | undefined {
  const { reason, node } = causeOf(run);
  return node === undefined ? run.message : run.message?.slice(`node ${node}: ${reason}: `.length);
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
