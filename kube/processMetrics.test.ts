import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectProcessMetrics, lagOf, type Intervals } from './processMetrics.ts';

const intervals = (...ms: number[]): Intervals => {
  const sorted = ms.map((each) => each * 1e6).toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  return {
    count: sorted.length,
    min: sorted[0] ?? 0,
    mean,
    max: sorted.at(-1) ?? 0,
    stddev: Math.sqrt(sorted.reduce((sum, each) => sum + (each - mean) ** 2, 0) / sorted.length),
    percentile: (percent) => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0,
  };
};

const NONE = { min: 0, mean: 0, max: 0, stddev: 0, p50: 0, p90: 0, p99: 0 };

test.each([
  ['no delay', intervals(1_000, 1_000), NONE],
  ['one long delay', intervals(1_000, 3_000), { ...NONE, mean: 1, max: 2, stddev: 1, p90: 2, p99: 2 }],
  ['samples that come early after a late one', intervals(900, 900), NONE],
  ['no sample yet', intervals(), NONE],
])('the interval between samples is no lag: %s', (_, given, lag) => {
  expect(lagOf(given, 1_000)).toEqual(lag);
});

test('lag, memory and processor time are under the names that dashboards know', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const text = await registry.metrics();
  const lag = ['', '_min', '_mean', '_max', '_stddev', '_p50', '_p90', '_p99'].map(
    (end) => `nodejs_eventloop_lag${end}_seconds`,
  );
  const names = [...lag, 'process_resident_memory_bytes', 'process_cpu_seconds_total'];
  const missing = names.filter((name) => !new RegExp(`^${name} \\d`, 'm').test(text));
  expect(missing).toEqual([]);
});
