/**
 * Tells of failed runs as Events of their workflow: how many have failed since the last Event, at most one Event in five minutes for
 * a workflow. So ten thousand failed runs cost no more than one. How many were told is kept in the run store: what a restart of the
 * operator interrupts, and what was dropped, is in the next Event.
 */
import type { Workflow } from '../../api/kinds.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Recorder } from '../../kube/events.ts';
import { objectKey } from '../../kube/resource.ts';
import type { GroupCounts } from '../../runs/read.ts';

/** From one Event about failed runs of a workflow to the next. */
const EVERY_MS = 300_000;

type Memory = { uid: string | undefined; told: number; at: number | undefined };

type Failures = Pick<GroupCounts, 'failed' | 'reported'>;

export type FailureReports = {
  /**
   * Takes the counts of the workflow as they are now, and records an Event when one is due. Returns the number of failed runs that Events
   * have told of if the run store must be given it, else undefined.
   */
  note(workflow: Workflow, counts: Failures): number | undefined;
  /** The workflow of that name is gone. */
  forget(key: { namespace: string; name: string }): void;
};

/** Creates the reports. The recorder should be one of their own, since it drops what comes too often: that is told later. */
export function createFailureReports(events: Pick<Recorder, 'record'>, clock: Clock): FailureReports {
  const memories = new Map<string, Memory>();

  function memoryOf(workflow: Workflow, counts: Failures): Memory {
    const { namespace = '', name, uid } = workflow.metadata;
    const key = objectKey({ namespace, name });
    const known = memories.get(key);
    if (known && known.uid === uid) return known;
    const memory = { uid, told: counts.reported ?? toldBefore(workflow, counts), at: undefined };
    memories.set(key, memory);
    return memory;
  }

  return {
    note: (workflow, counts) => {
      const memory = memoryOf(workflow, counts);
      const isEarly = memory.at !== undefined && clock.now() - memory.at < EVERY_MS;
      // A run store that has lost its data counts anew.
      memory.told = Math.min(memory.told, counts.failed);
      if (!isEarly && counts.failed > memory.told) {
        const note = noteOf(workflow, counts.failed - memory.told);
        if (events.record(workflow, { type: 'Warning', reason: 'RunsFailed', action: 'Execute', note }))
          Object.assign(memory, { told: counts.failed, at: clock.now() });
      }
      return counts.failed > 0 && counts.reported !== memory.told ? memory.told : undefined;
    },
    forget: (key) => void memories.delete(objectKey(key)),
  };
}

/**
 * How many failed runs count as told while the run store has no such number. If the status shows failed runs, an operator of an earlier
 * version counted them, together with cancelled ones, and may have told of them: then no Event repeats them.
 */
function toldBefore({ status }: Workflow, { failed }: Failures): number {
  return (status?.runs?.failed ?? 0) > 0 ? failed : 0;
}

function noteOf({ metadata: { namespace, name } }: Workflow, count: number): string {
  const runs = count === 1 ? '1 run has failed' : `${count} runs have failed`;
  return `${runs} since the last Event of this kind. Look at them: kubectl -n ${namespace} get workflowruns --field-selector spec.workflow=${name},status.phase=Failed`;
}
