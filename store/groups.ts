/**
 * Groups of runs. The live runs of a workflow are one group, its test runs another: each has its own limits,
 * queue, totals, summaries and history in the run store, so that neither delays, replaces or evicts the
 * other. Dedupe keys and polled triggers belong to the workflow.
 */

/**
 * The name of a group in the run store: `<uid of the workflow>` for live runs, `<uid of the workflow>.test`
 * for test runs.
 */
export type RunGroup = string;

const TEST = '.test';

/** The group that a run belongs to. */
export function groupOf({ workflowUid, test }: { workflowUid: string; test: boolean }): RunGroup {
  return test ? workflowUid + TEST : workflowUid;
}

/** Both groups of a workflow: its live runs, then its test runs. */
export function groupsOf(workflowUid: string): [live: RunGroup, test: RunGroup] {
  return [workflowUid, workflowUid + TEST];
}

/** The uid of the workflow whose runs are in the group. */
export function workflowOfGroup(group: RunGroup): string {
  return group.endsWith(TEST) ? group.slice(0, -TEST.length) : group;
}
