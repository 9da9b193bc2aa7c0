/** The metrics of a process of Node: memory, processor time, garbage collection, delays of its event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/**
 * Between two samples of the event loop's delay. Each sample wakes the process: in shorter intervals, such as
 * the library's 10 ms, a program that has nothing to do would do little else.
 */
const SAMPLE_MS = 1_000;
/** The longest interval of a timer, 24 days: what the library would sample is replaced. */
const NEVER_MS = 2 ** 31 - 1;
const LAG = 'nodejs_eventloop_lag';
const PERCENTILES = [50, 90, 99];

/** The intervals between samples in nanoseconds, as `perf_hooks` counts them. */
export type Intervals = {
  count: number;
  min: number;
  mean: number;
  max: number;
  stddev: number;
  percentile(percent: number): number;
};

/** How late samples were, in seconds, by the ends of the metrics' names. Without samples all are 0. */
export function lagOf(intervals: Intervals, sampleMs: number): Record<string, number> {
  const late = (nanoseconds: number): number =>
    intervals.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - sampleMs / 1_000);
  return {
    min: late(intervals.min),
    mean: late(intervals.mean),
    max: late(intervals.max),
    // The same as that of the intervals, from which the lag differs by a constant.
    stddev: intervals.count === 0 ? 0 : intervals.stddev / 1e9,
    ...Object.fromEntries(PERCENTILES.map((percent) => [`p${percent}`, late(intervals.percentile(percent))])),
  };
}

/** Adds them to the registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith(LAG)) registry.removeSingleMetric(name);
  collectLag(registry);
}

/** Under the names of the library, which dashboards know. */
function collectLag(registry: Registry): void {
  const intervals = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  intervals.enable();
  // The first one that is registered is collected first, and sets the others.
  const atScrape = new Gauge({
    name: `${LAG}_seconds`,
    help: 'Delay of the event loop at the scrape.',
    registers: [],
    async collect() {
      const lag = lagOf(intervals, SAMPLE_MS);
      intervals.reset();
      for (const [end, gauge] of gauges) gauge.set(lag[end] ?? 0);
      const start = performance.now();
      await setImmediate();
      this.set((performance.now() - start) / 1_000);
    },
  });
  registry.registerMetric(atScrape);
  const gauges = Object.keys(lagOf(intervals, SAMPLE_MS)).map((end): [string, Gauge] => {
    const help = `Delay of the event loop since the last scrape (${end}), sampled each second.`;
    return [end, new Gauge({ name: `${LAG}_${end}_seconds`, help, registers: [registry] })];
  });
}
