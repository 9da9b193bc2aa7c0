/** The charts of the overview. Import it lazily: the chart library is large. */
import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { BarChartSeries, LineChartSeries } from '@mantine/charts';
import type { Axis } from './statistics.ts';

type Props<Series> = {
  data: Record<string, string | number | null>[];
  series: Series[];
  /** The content of the chart, for screen readers. */
  label: string;
  valueText: (value: number) => string;
};

const common = {
  h: 200,
  dataKey: 'time',
  withLegend: true,
  legendProps: { verticalAlign: 'bottom' as const, itemSorter: null },
};
/** The label describes the chart; the table beside it has the numbers. */
const silent = { accessibilityLayer: false, margin: { top: 8 } };
const xAxis = { interval: 'equidistantPreserveStart' as const, minTickGap: 24 };

export function Bars({ data, series, label, valueText }: Props<BarChartSeries>) {
  return (
    <div role="img" aria-label={label}>
      <BarChart
        {...common}
        type="stacked"
        data={data}
        series={series}
        valueFormatter={valueText}
        barChartProps={silent}
        barProps={{ isAnimationActive: false }}
        xAxisProps={xAxis}
        yAxisProps={{ allowDecimals: false, width: 60 }}
      />
    </div>
  );
}

export function Lines({
  data,
  series,
  label,
  valueText,
  axis: { ticks, text },
}: Props<LineChartSeries> & { axis: Axis }) {
  return (
    <div role="img" aria-label={label}>
      <LineChart
        {...common}
        data={data}
        series={series}
        curveType="linear"
        connectNulls={false}
        valueFormatter={valueText}
        lineChartProps={silent}
        lineProps={{ isAnimationActive: false }}
        xAxisProps={xAxis}
        yAxisProps={{ width: 64, ticks, domain: [0, ticks.at(-1) ?? 0], tickFormatter: text }}
      />
    </div>
  );
}
