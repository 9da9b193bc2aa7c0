/** Charts of runs, durations and model tokens over time. */
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { count, formatDuration } from '../ui/format.ts';
import {
  beginOf,
  durationAxis,
  durations,
  spread,
  throughput,
  tokens,
  totals,
  totalsText,
  type CountedRun,
  type Period,
} from './statistics.ts';
import type { ReadUsage } from './queries.ts';
import { Button, Card, Group, ScrollArea, Skeleton, Table, Text, Title } from '@mantine/core';
import { IconChartBar, IconTable } from '@tabler/icons-react';

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
  { name: 'open', label: 'Unfinished', color: 'blue.6' },
] as const;

function ThroughputChart({ runs, period, now }: ChartProps) {
  const parts = throughput(runs, period, now);
  const all = totals(parts);
  const text = totalsText(all);
  // Without those that no run has: the legend has one row then.
  const drawn = PHASES.filter(({ name }) => all[name] > 0);
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
        series={drawn.length > 0 ? drawn : [PHASES[0]]}
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
      : `Median ${formatDuration(p50)}, 95th percentile ${formatDuration(p95)}.`;
  const shown = (ms: number | undefined) => (ms === undefined ? '' : formatDuration(ms));
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
        valueText={formatDuration}
        axis={durationAxis(Math.max(0, ...parts.flatMap((part) => part.p95 ?? [])))}
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
  const runs = usages.filter(({ at }) => at >= beginOf(period, now)).length;
  const of = isAll ? '' : ` Counted are the newest ${count(records, 'recorded run')}.`;
  const asked = `${count(runs, 'run')} that asked a model`;
  const text = `${read} input tokens and ${written} output tokens of ${asked}, with test runs.${of}`;
  return (
    <ChartCard
      title="Model tokens"
      text={text}
      columns={['From', 'Input', 'Output']}
      rows={parts.map(({ at, input, output }) => [timeText(at, period), input, output])}
    >
      <Bars
        label={text}
        data={parts.map(({ at, input, output }) => ({ time: timeText(at, period), input, output }))}
        series={[
          { name: 'input', label: 'Input', color: 'windlass.6' },
          { name: 'output', label: 'Output', color: 'grape.5' },
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

/** A card that shows a chart or the same data as a table. */
type ChartCardProps = {
  title: string;
  /** The content of the chart in a sentence. */
  text: string;
  columns: string[];
  rows: (string | number)[][];
  children: ReactNode;
};

const HEIGHT = 200;

function ChartCard({ title, text, columns, rows, children }: ChartCardProps) {
  const [isTable, setTable] = useState(false);
  const Icon = isTable ? IconChartBar : IconTable;
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={<Icon size={14} />}
          onClick={() => setTable(!isTable)}
          aria-label={isTable ? `${title} as a chart` : `${title} as a table`}
        >
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mb="sm">
        {text}
      </Text>
      {isTable ? (
        <ScrollArea h={HEIGHT} type="auto" viewportProps={{ tabIndex: 0 }}>
          <Table stickyHeader verticalSpacing={3} fz="xs">
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <Table.Th key={column}>{column}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((cells) => (
                <Table.Tr key={String(cells[0])}>
                  {cells.map((cell, at) => (
                    <Table.Td key={columns[at]}>{cell.toLocaleString('en')}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea>
      ) : (
        <Suspense fallback={<Skeleton h={HEIGHT} />}>{children}</Suspense>
      )}
    </Card>
  );
}
