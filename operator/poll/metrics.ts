/**
 * The metrics of polled triggers, which poll pods cannot expose because they are short-lived. Label values
 * are bounded: kinds of triggers, statuses, outcomes, and a limited number of workflows.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../kube/clock.ts';
import { WORKED, type PollCounts } from '../../store/polling/counts.ts';
import { highestOf, type LabelBound } from '../shared/metricLabels.ts';
import type { Finding } from '../shared/status.ts';

/** The health of a trigger, and the counts since the last reading. */
type PollReading = {
  kind: string;
  status: Finding['status'];
  /** For how long, beyond its interval, no poll has succeeded. */
  lateMs: number;
  counts: PollCounts;
};

export type PollMetrics = {
  /** Adds the counts, and exposes the trigger of the workflow `<namespace>/<name>`. */
  seen(trigger: string, reading: PollReading): void;
  /** The workflow has no polled trigger any more. */
  gone(trigger: string): void;
};

/** A trigger is read at least every 30 s; during an outage of the run store its health is unknown. */
const STALE_MS = 90_000;
const STATUSES = ['True', 'False', 'Unknown'] as const;

type Known = Omit<PollReading, 'counts'> & { trigger: string };

/** Registers the metrics. A kind has no series before a trigger of that kind was read. */
export function createPollMetrics(
  registers: Registry[],
  clock: Pick<Clock, 'now'>,
  bound: LabelBound,
): PollMetrics {
  const seen = new Map<string, Omit<PollReading, 'counts'> & { at: number }>();
  const known = (): Known[] =>
    [...seen].map(([trigger, { kind, status, lateMs, at }]) => {
      const age = clock.now() - at;
      return age > STALE_MS
        ? { trigger, kind, status: 'Unknown', lateMs: lateMs + age }
        : { trigger, kind, status, lateMs };
    });
  const kinds = new Set<string>();
  registerGauges(registers, kinds, known);
  registerLag(registers, known, bound);
  const counters = createCounters(registers);
  return {
    seen: (trigger, { counts, ...reading }) => {
      kinds.add(reading.kind);
      seen.set(trigger, { ...reading, at: clock.now() });
      counters.add(reading.kind, counts);
    },
    gone: (trigger) => void seen.delete(trigger),
  };
}

function createCounters(registers: Registry[]) {
  const polls = new Counter({
    name: 'windlass_poll_looks_total',
    help: 'Polls that ended, by kind of trigger and outcome: Polled, or the reason of the failure.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const events = new Counter({
    name: 'windlass_poll_events_total',
    help: 'Events that polls submitted, by kind of trigger.',
    labelNames: ['kind'],
    registers,
  });
  const lost = new Counter({
    name: 'windlass_poll_baselines_lost_total',
    help: 'Lost baselines: polls that could not determine which events are new, by kind of trigger.',
    labelNames: ['kind'],
    registers,
  });
  return {
    add: (kind: string, counts: PollCounts): void => {
      // A series that starts at zero shows its first increase.
      polls.inc({ kind, outcome: WORKED }, 0);
      for (const [outcome, count] of Object.entries(counts.polls)) polls.inc({ kind, outcome }, count);
      events.inc({ kind }, counts.events);
      lost.inc({ kind }, counts.lost);
    },
  };
}

function registerGauges(registers: Registry[], kinds: ReadonlySet<string>, known: () => Known[]): void {
  const triggers = new Gauge({
    name: 'windlass_poll_triggers',
    help: 'Triggers that are polled, by kind and by the status of their condition TriggerHealthy.',
    labelNames: ['kind', 'status'],
    registers,
    collect: () => {
      for (const kind of kinds) for (const status of STATUSES) triggers.set({ kind, status }, 0);
      for (const { kind, status } of known()) triggers.inc({ kind, status });
    },
  });
  const late = new Gauge({
    name: 'windlass_poll_late_seconds',
    help: 'The longest time, beyond its interval, for which no poll of a trigger of the kind has succeeded.',
    labelNames: ['kind'],
    registers,
    collect: () => {
      for (const kind of kinds) {
        const each = known().filter((trigger) => trigger.kind === kind);
        late.set({ kind }, Math.floor(Math.max(0, ...each.map(({ lateMs }) => lateMs)) / 1_000));
      }
    },
  });
}

function registerLag(registers: Registry[], known: () => Known[], bound: LabelBound): void {
  const lag = new Gauge({
    name: 'windlass_workflow_poll_lag_seconds',
    help: 'For how long, beyond its interval, no poll of the trigger has succeeded.',
    labelNames: ['namespace', 'workflow'],
    registers,
    collect: () => {
      lag.reset();
      const values = known().map(({ trigger, lateMs }) => {
        const [namespace = '', workflow = ''] = trigger.split('/');
        return { namespace, workflow, value: Math.floor(lateMs / 1_000) };
      });
      for (const { labels, value } of highestOf(bound, values)) lag.set(labels, value);
    },
  });
}
