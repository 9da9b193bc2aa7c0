/** Merges the runs of a workflow from live records and from the run store. */
import type { RunItem } from '../../api/runView.ts';
import type { ListedRun } from './filters.ts';

/** Each run once. Records, which are live, win over the run store. */
export function mergeRuns(recorded: readonly ListedRun[], stored: readonly RunItem[]): ListedRun[] {
  const known = new Set(recorded.map(({ run }) => run));
  return [...recorded, ...stored.filter(({ run }) => !known.has(run)).map(runOfItem)];
}

function runOfItem(item: RunItem): ListedRun {
  const { run, workflow, phase, trigger = '', test = false, acceptedTime, summary = false } = item;
  return {
    run,
    workflow: workflow.slice(workflow.indexOf('.') + 1),
    phase,
    trigger,
    test,
    at: Date.parse(acceptedTime ?? item.completionTime ?? '') || 0,
    startTime: item.startTime,
    completionTime: item.completionTime,
    reason: item.reason,
    message: item.message,
    until: item.until,
    retryOf: item.retryOf,
    requestedBy: item.requestedBy,
    isSummary: summary,
  };
}
