/**
 * The metrics of the operator. Label values are bounded: controllers, outcomes, verbs, resources, and a
 * limited number of workflows and namespaces.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { collectProcessMetrics } from '../kube/processMetrics.ts';
import type { RequestMetric } from '../kube/caller.ts';
import { systemClock, type Clock } from '../kube/clock.ts';
import { outcomes, type Outcome } from '../kube/controller.ts';
import type { QueueStats } from '../kube/queue.ts';
import { POOL_STATES, type PoolState } from './scaling/poolStates.ts';
import { createLabelBound } from './shared/metricLabels.ts';
import { createPollMetrics, type PollMetrics } from './poll/metrics.ts';
import { createStoreMetrics, type StoreMetrics } from './store/metrics.ts';
import { createWorkflowMetrics, type WorkflowMetrics } from './store/workflowMetrics.ts';

export type OperatorMetrics = {
  registry: Registry;
  /** One reconcile has ended. */
  reconciled: (controller: string, outcome: Outcome, seconds: number) => void;
  /** One attempt of a call to the API server has ended. */
  requested: (metric: RequestMetric) => void;
  /** Exposes a controller's queue, and its outcomes at zero. */
  watchQueue: (controller: string, stats: () => QueueStats) => void;
  leading: (leads: boolean) => void;
  /** Sets the source of the number of runs of deleted workflows that are left. */
  watchDeletions: (left: () => number) => void;
  /** Sets the source of the number of runner pools by state. */
  watchPools: (count: () => Record<PoolState, number>) => void;
  /** Of polled triggers. */
  polls: PollMetrics;
  /** Of the run store's memory. */
  store: StoreMetrics;
  /** Of the live runs of each workflow. */
  workflows: WorkflowMetrics;
  /** Shows when the run store's certificate expires; `ask` is called once a minute at most. */
  watchRunStoreCertificate: (ask: () => Promise<Date | undefined>) => void;
};

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const SHOWN_BY_NAME = 500;

/** `shownByName`: the number of workflows, and of namespaces, that labels name. */
export function createMetrics(
  clock: Clock = systemClock,
  shownByName: number = SHOWN_BY_NAME,
): OperatorMetrics {
  const shownWorkflows = createLabelBound(shownByName);
  const registry = new Registry();
  collectProcessMetrics(registry);
  const registers = [registry];
  const reconciles = new Counter({
    name: 'windlass_operator_reconciles_total',
    help: 'Reconciles by controller and outcome.',
    labelNames: ['controller', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'windlass_operator_reconcile_seconds',
    help: 'How long a reconcile took, by controller.',
    labelNames: ['controller'],
    buckets: SECONDS,
    registers,
  });
  const requests = new Counter({
    name: 'windlass_operator_requests_total',
    help: 'Calls to the API server by verb, resource and status code.',
    labelNames: ['verb', 'resource', 'code'],
    registers,
  });
  const leader = new Gauge({
    name: 'windlass_operator_leader',
    help: 'Whether this replica leads: 1 or 0.',
    registers,
  });
  leader.set(0);
  return {
    registry,
    reconciled: (controller, outcome, seconds) => {
      reconciles.inc({ controller, outcome });
      durations.observe({ controller }, seconds);
    },
    requested: ({ verb, resource, code }) => requests.inc({ verb, resource, code }),
    watchQueue: queueGauges(registers, reconciles),
    leading: (leads) => leader.set(leads ? 1 : 0),
    watchDeletions: deletionGauge(registers),
    watchPools: poolGauge(registers),
    polls: createPollMetrics(registers, clock, shownWorkflows),
    store: createStoreMetrics(registers, createLabelBound(shownByName)),
    workflows: createWorkflowMetrics(registers, shownWorkflows),
    watchRunStoreCertificate: (ask) => certificateGauge(registers, clock, ask),
  };
}

function deletionGauge(registers: Registry[]): OperatorMetrics['watchDeletions'] {
  let ask = (): number => 0;
  const gauge: Gauge = new Gauge({
    name: 'windlass_operator_deleting_runs',
    help: 'Runs of deleted workflows that are left in the run store.',
    registers,
    collect: () => gauge.set(ask()),
  });
  return (left) => void (ask = left);
}

function poolGauge(registers: Registry[]): OperatorMetrics['watchPools'] {
  let count = (): Partial<Record<PoolState, number>> => ({});
  const gauge: Gauge<'state'> = new Gauge({
    name: 'windlass_operator_runner_pools',
    help: 'Runner pools by state: ready, starting, asleep.',
    labelNames: ['state'],
    registers,
    collect: () => {
      const counts = count();
      for (const state of POOL_STATES) gauge.set({ state }, counts[state] ?? 0);
    },
  });
  return (ask) => void (count = ask);
}

const CERTIFICATE_ASKED_MS = 60_000;

function certificateGauge(registers: Registry[], clock: Clock, ask: () => Promise<Date | undefined>): Gauge {
  let askedAt = -Infinity;
  return new Gauge({
    name: 'windlass_operator_run_store_tls_certificate_expiry_timestamp_seconds',
    help: 'When the TLS certificate that the run store shows expires, in seconds since 1970. NaN when no handshake succeeds.',
    registers,
    async collect() {
      if (clock.now() - askedAt < CERTIFICATE_ASKED_MS) return;
      askedAt = clock.now();
      this.set(((await ask())?.getTime() ?? Number.NaN) / 1_000);
    },
  });
}

function queueGauges(
  registers: Registry[],
  reconciles: Counter<'controller' | 'outcome'>,
): OperatorMetrics['watchQueue'] {
  const queues = new Map<string, () => QueueStats>();
  const gauge = new Gauge({
    name: 'windlass_operator_queue_keys',
    help: 'Keys in a queue by controller and state: ready, delayed, running or failing.',
    labelNames: ['controller', 'state'],
    registers,
    collect: () => {
      for (const [controller, stats] of queues) {
        for (const [state, keys] of Object.entries(stats())) gauge.set({ controller, state }, keys);
      }
    },
  });
  return (controller, stats) => {
    queues.set(controller, stats);
    for (const outcome of outcomes) reconciles.inc({ controller, outcome }, 0);
  };
}
