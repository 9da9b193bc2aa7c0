/** The metrics of a runner. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { collectProcessMetrics } from '../kube/processMetrics.ts';
import { createModelMetrics, type ModelMetrics } from './modelMetrics.ts';

export type RunnerMetrics = {
  registry: Registry;
  /** Executed runs, by conclusion and whether they were test runs. */
  runs: Counter<'conclusion' | 'test'>;
  nodeSeconds: Histogram<'kind'>;
  claims: Gauge;
  claimsHeldBack: Gauge;
  models: ModelMetrics;
};

/** Creates the metrics in a registry of their own. `defaults` adds the metrics of the process. */
export function createMetrics({ defaults }: { defaults: boolean }): RunnerMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (defaults) collectProcessMetrics(registry);
  return {
    registry,
    runs: new Counter({
      name: 'windlass_runs_total',
      help: 'Runs that this runner executed, by conclusion: Succeeded, Failed, Cancelled, parked, fenced, handed-back, abandoned. test="true" counts test runs.',
      labelNames: ['conclusion', 'test'],
      registers,
    }),
    nodeSeconds: new Histogram({
      name: 'windlass_node_duration_seconds',
      help: 'Duration of attempts of steps, by kind or skill.',
      labelNames: ['kind'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
      registers,
    }),
    claims: new Gauge({ name: 'windlass_claims', help: 'Runs in flight in this runner.', registers }),
    claimsHeldBack: new Gauge({
      name: 'windlass_claims_held_back',
      help: '1 while runs are ready but the run store is too full to execute them.',
      registers,
    }),
    models: createModelMetrics(registers),
  };
}
