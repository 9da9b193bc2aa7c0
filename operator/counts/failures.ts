/**
 * Reports failed runs in Events of their workflow: how many have failed since the last Event, at most one
 * Event in five minutes per workflow, so that ten thousand failed runs cost no more than one. The run store
 * has the number of reported failures: after a restart of the operator, or a dropped Event, the next Event
 * includes them.
 */
import type { Workflow } from '../../api/kinds.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Recorder } from '../../kube/events.ts';
import { objectKey } from '../../kube/resource.ts';
import type { GroupCounts } from '../../runs/read.ts';

/** The minimum time between two Events of a workflow. */
const EVERY_MS = 300_000;

type Reported = { uid: string | undefined; count: number; at: number | undefined };

type Failures = Pick<GroupCounts, 'failed' | 'reported'>;

export type FailureReports = {
  /**
   * Records an Event about the current counts if one is due. Returns the number of reported failures if the
   * run store must be updated, else undefined.
   */
  note(workflow: Workflow, counts: Failures): number | undefined;
  /** Forgets a deleted workflow. */
  forget(key: { namespace: string; name: string }): void;
};

/**
 * Creates the reports. They need a recorder of their own, since it drops frequent Events, which are repeated
 * later.
 */
export function createFailureReports(events: Pick<Recorder, 'record'>, clock: Clock): FailureReports {
  const entries = new Map<string, Reported>();

  function entryOf(workflow: Workflow, counts: Failures): Reported {
    const { namespace = '', name, uid } = workflow.metadata;
    const key = objectKey({ namespace, name });
    const known = entries.get(key);
    if (known && known.uid === uid) return known;
    const entry = { uid, count: counts.reported ?? reportedBefore(workflow, counts), at: undefined };
    entries.set(key, entry);
    return entry;
  }

  return {
    note: (workflow, counts) => {
      const entry = entryOf(workflow, counts);
      const isEarly = entry.at !== undefined && clock.now() - entry.at < EVERY_MS;
      // A run store that lost its data starts counting again.
      entry.count = Math.min(entry.count, counts.failed);
      if (!isEarly && counts.failed > entry.count) {
        const note = noteOf(workflow, counts.failed - entry.count);
        if (events.record(workflow, { type: 'Warning', reason: 'RunsFailed', action: 'Execute', note }))
          Object.assign(entry, { count: counts.failed, at: clock.now() });
      }
      return counts.failed > 0 && counts.reported !== entry.count ? entry.count : undefined;
    },
    forget: (key) => void entries.delete(objectKey(key)),
  };
}

/**
 * The number of reported failures while the run store has none. If the status shows failed runs, an operator
 * of an earlier version counted them, with cancelled ones, and may have reported them: then no Event repeats
 * them.
 */
function reportedBefore({ status }: Workflow, { failed }: Failures): number {
  return (status?.runs?.failed ?? 0) > 0 ? failed : 0;
}

function noteOf({ metadata: { namespace, name } }: Workflow, count: number): string {
  const runs = count === 1 ? '1 run has failed' : `${count} runs have failed`;
  return `${runs} since the last Event of this kind. List them: kubectl -n ${namespace} get workflowruns --field-selector spec.workflow=${name},status.phase=Failed`;
}
