/** What a runner counts, in the text format of Prometheus. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type RunnerMetrics = {
  registry: Registry;
  /** Runs that this runner is done with, by how, and whether they were test runs. */
  runs: Counter<'conclusion' | 'test'>;
  nodeSeconds: Histogram<'kind'>;
  claims: Gauge;
  claimsHeldBack: Gauge;
};

const LAG_RESOLUTION_MS = 10;

/** A registry of its own, so that tests can have several. `defaults` adds those of the process. */
export function createMetrics({ defaults }: { defaults: boolean }): RunnerMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (defaults) {
    collectDefaultMetrics({ register: registry });
    watchLag(registry);
  }
  return {
    registry,
    runs: new Counter({
      name: 'windlass_runs_total',
      help: 'Runs that this runner is done with, by how: Succeeded, Failed, Cancelled, parked, fenced, handed-back, abandoned; test="true" counts test runs.',
      labelNames: ['conclusion', 'test'],
      registers,
    }),
    nodeSeconds: new Histogram({
      name: 'windlass_node_duration_seconds',
      help: 'How long attempts of steps took, by kind or skill.',
      labelNames: ['kind'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
      registers,
    }),
    claims: new Gauge({ name: 'windlass_claims', help: 'Runs that this runner holds now.', registers }),
    claimsHeldBack: new Gauge({
      name: 'windlass_claims_held_back',
      help: '1 while runs are ready that this runner does not claim, since the run store has no room for what they would write.',
      registers,
    }),
  };
}

function watchLag(registry: Registry): void {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  const gauge = new Gauge({
    name: 'windlass_event_loop_lag_seconds',
    help: 'The longest time that the event loop was late since the last look.',
    registers: [registry],
    collect: () => {
      gauge.set(Math.max(lag.max / 1e9 - LAG_RESOLUTION_MS / 1e3, 0));
      lag.reset();
    },
  });
}
