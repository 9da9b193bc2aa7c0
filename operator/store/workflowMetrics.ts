/**
 * What metrics show of the live runs of each workflow. The number of workflows that are shown by name is
 * bounded; all others are shown together, as `_other`.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { TerminalPhase } from '../../api/phase.ts';
import type { WorkflowMeasures } from '../../runs/measures.ts';
import { highestOf, labelsOf, type LabelBound } from '../shared/metricLabels.ts';

/** A workflow, and the namespace of its project. */
export type NamedWorkflow = { namespace: string; workflow: string; uid: string; isActive: boolean };

/** What was read of one workflow. */
export type WorkflowReading = NamedWorkflow & {
  /** It was created since this operator leads: all its runs that ended are counted. */
  isNew: boolean;
  measures: WorkflowMeasures;
};

export type WorkflowMetrics = {
  /**
   * Shows what was read, and nothing of workflows that are not among `existing`. One that could not be read
   * is shown again when it can.
   */
  seen(readings: readonly WorkflowReading[], existing: readonly NamedWorkflow[]): void;
};

const PHASES = ['Succeeded', 'Failed', 'Cancelled'] as const satisfies TerminalPhase[];
const NONE = { Succeeded: 0, Failed: 0, Cancelled: 0 };

/** Registers the metrics. They have no values before the first reading. */
export function createWorkflowMetrics(registers: Registry[], bound: LabelBound): WorkflowMetrics {
  const runs = new Gauge({
    name: 'windlass_workflow_runs',
    help: 'Live runs that have not ended, by state: running (a runner executes them) or waiting. Test runs are left out.',
    labelNames: ['namespace', 'workflow', 'state'],
    registers,
  });
  const oldest = new Gauge({
    name: 'windlass_workflow_oldest_waiting_seconds',
    help: 'How long ago the oldest live run was accepted that is ready or over the limit; 0 where there is none.',
    labelNames: ['namespace', 'workflow'],
    registers,
  });
  const ended = new Counter({
    name: 'windlass_workflow_runs_ended_total',
    help: 'Live runs that ended since this operator leads, by phase. Test runs are left out.',
    labelNames: ['namespace', 'workflow', 'phase'],
    registers,
  });
  let before = new Map<string, Record<TerminalPhase, number>>();
  let shown: readonly WorkflowReading[] | undefined;

  return {
    seen: (readings, existing) => {
      // Nothing was read since: all runners sleep.
      if (readings.length === existing.length && areSame(shown, readings)) return;
      shown = readings;
      const candidates = existing.map(({ namespace, workflow, isActive }) => {
        return { name: `${namespace}/${workflow}`, namespace, isActive };
      });
      for (const name of bound.retain(candidates)) {
        const [namespace = '', workflow = ''] = name.split('/');
        for (const phase of PHASES) ended.remove({ namespace, workflow, phase });
      }
      runs.reset();
      for (const { namespace, workflow, uid, isNew, measures } of readings) {
        const labels = labelsOf(bound, { namespace, workflow });
        runs.inc({ ...labels, state: 'running' }, measures.running);
        runs.inc({ ...labels, state: 'waiting' }, measures.waiting);
        const known = before.get(uid) ?? (isNew ? NONE : measures.ended);
        for (const phase of PHASES)
          ended.inc({ ...labels, phase }, endedSince(known[phase], measures.ended[phase]));
      }
      oldest.reset();
      const ages = readings.map(({ namespace, workflow, measures: { oldestWaitingMs } }) => {
        return { namespace, workflow, value: Math.round(oldestWaitingMs / 1_000) };
      });
      for (const { labels, value } of highestOf(bound, ages)) oldest.set(labels, value);
      for (const { uid, measures } of readings) before.set(uid, measures.ended);
      const uids = new Set(existing.map(({ uid }) => uid));
      before = new Map([...before].filter(([uid]) => uids.has(uid)));
    },
  };
}

function areSame(before: readonly WorkflowReading[] | undefined, now: readonly WorkflowReading[]): boolean {
  const isSame = (reading: WorkflowReading, index: number): boolean =>
    reading.uid === before?.[index]?.uid &&
    reading.isActive === before[index].isActive &&
    reading.measures === before[index].measures;
  return before?.length === now.length && now.every(isSame);
}

/** A run store that lost its data counts from zero again. */
function endedSince(before: number, now: number): number {
  return now >= before ? now - before : now;
}
