/** How many runs there were, how long they took, and what models used, each over time. */
import { lazy } from 'react';
import { count, lasting } from '../words.ts';
import { ChartCard } from './ChartCard.tsx';
import {
  durations,
  spread,
  throughput,
  tokens,
  totals,
  totalsText,
  type CountedRun,
  type Period,
} from './count.ts';
import type { ReadUsage } from './reading.ts';

const Bars = lazy(async () => ({ default: (await import('./Charts.tsx')).Bars }));
const Lines = lazy(async () => ({ default: (await import('./Charts.tsx')).Lines }));

type Props = { runs: CountedRun[]; usage: ReadUsage | undefined; period: Period; now: number };

export function RunCharts({ runs, usage, period, now }: Props) {
  return (
    <>
      <ThroughputChart runs={runs} period={period} now={now} />
      <DurationChart runs={runs} period={period} now={now} />
      {usage && <TokenChart usage={usage} period={period} now={now} />}
    </>
  );
}

type ChartProps = Omit<Props, 'usage'>;

const PHASES = [
  { name: 'succeeded', label: 'Succeeded', color: 'green.8' },
  { name: 'failed', label: 'Failed', color: 'red.6' },
  { name: 'cancelled', label: 'Cancelled', color: 'gray.6' },
  { name: 'open', label: 'Under way', color: 'blue.6' },
] as const;

function ThroughputChart({ runs, period, now }: ChartProps) {
  const parts = throughput(runs, period, now);
  const text = totalsText(totals(parts));
  return (
    <ChartCard
      title={`Runs per ${stepText(period)}`}
      text={text}
      columns={['From', ...PHASES.map(({ label }) => label)]}
      rows={parts.map((part) => [timeText(part.at, period), ...PHASES.map(({ name }) => part[name])])}
    >
      <Bars
        label={text}
        data={parts.map(({ at, ...numbers }) => ({ time: timeText(at, period), ...numbers }))}
        series={[...PHASES]}
        valueText={(value) => value.toLocaleString('en')}
      />
    </ChartCard>
  );
}

function DurationChart({ runs, period, now }: ChartProps) {
  const parts = durations(runs, period, now);
  const { p50, p95 } = spread(runs);
  const text =
    p50 === undefined || p95 === undefined
      ? 'No run has ended.'
      : `Half of the runs took at most ${lasting(p50)}, 95 of 100 at most ${lasting(p95)}.`;
  const shown = (ms: number | undefined) => (ms === undefined ? '' : lasting(ms));
  return (
    <ChartCard
      title="Durations"
      text={text}
      columns={['From', 'Median', '95th percentile']}
      rows={parts.map((part) => [timeText(part.at, period), shown(part.p50), shown(part.p95)])}
    >
      <Lines
        label={text}
        data={parts.map((part) => ({
          time: timeText(part.at, period),
          p50: part.p50 ?? null,
          p95: part.p95 ?? null,
        }))}
        series={[
          { name: 'p50', label: 'Median', color: 'windlass.6' },
          { name: 'p95', label: '95th percentile', color: 'orange.7', strokeDasharray: '5 4' },
        ]}
        valueText={lasting}
      />
    </ChartCard>
  );
}

function TokenChart({
  usage: { usages, records, isAll },
  period,
  now,
}: Omit<ChartProps, 'runs'> & { usage: ReadUsage }) {
  const parts = tokens(usages, period, now);
  const sum = (key: 'input' | 'output') => parts.reduce((all, part) => all + part[key], 0);
  const [read, written] = [sum('input').toLocaleString('en'), sum('output').toLocaleString('en')];
  const of = isAll ? count(records, 'recorded run') : `the first ${count(records, 'recorded run')} of more`;
  const text = `${read} tokens read and ${written} written, as ${of} say, test runs among them.`;
  return (
    <ChartCard
      title="Model tokens"
      text={text}
      columns={['From', 'Read', 'Written']}
      rows={parts.map(({ at, input, output }) => [timeText(at, period), input, output])}
    >
      <Bars
        label={text}
        data={parts.map(({ at, input, output }) => ({ time: timeText(at, period), input, output }))}
        series={[
          { name: 'input', label: 'Read', color: 'windlass.6' },
          { name: 'output', label: 'Written', color: 'grape.5' },
        ]}
        valueText={(value) => value.toLocaleString('en')}
      />
    </ChartCard>
  );
}

function stepText({ stepMs }: Period): string {
  const hours = stepMs / 3_600_000;
  return hours === 1 ? 'hour' : `${hours} hours`;
}

function timeText(at: number, { id }: Period): string {
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  return new Date(at).toLocaleString('en-GB', id === '24h' ? clock : { weekday: 'short', ...clock });
}
