/**
 * Tells of failed runs as Events of their workflow: how many have failed since the last Event, at most one Event in five minutes for
 * a workflow. So ten thousand failed runs cost no more than one. What a restart of the operator interrupts is told after it.
 */
import type { Workflow } from '../../api/kinds.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Recorder } from '../../kube/events.ts';
import { objectKey } from '../../kube/resource.ts';
import type { Counts } from '../../runs/types.ts';

/** From one Event about failed runs of a workflow to the next. */
const EVERY_MS = 300_000;

type Memory = { uid: string | undefined; told: number; at: number | undefined };

export type FailureReports = {
  /** Takes the counts of the workflow as they are now, and records an Event when one is due. */
  note(workflow: Workflow, counts: Pick<Counts, 'failed' | 'cancelled'>): void;
  /** The workflow of that name is gone. */
  forget(key: { namespace: string; name: string }): void;
};

/** Creates the reports. The recorder should be one of their own, since it drops what comes too often. */
export function createFailureReports(events: Pick<Recorder, 'record'>, clock: Clock): FailureReports {
  const memories = new Map<string, Memory>();

  function memoryOf(workflow: Workflow, counts: Pick<Counts, 'failed' | 'cancelled'>): Memory {
    const { namespace = '', name, uid } = workflow.metadata;
    const key = objectKey({ namespace, name });
    const known = memories.get(key);
    if (known && known.uid === uid) return known;
    const memory = { uid, told: failedBefore(workflow, counts), at: undefined };
    memories.set(key, memory);
    return memory;
  }

  return {
    note: (workflow, counts) => {
      const memory = memoryOf(workflow, counts);
      const isEarly = memory.at !== undefined && clock.now() - memory.at < EVERY_MS;
      // A run store that has lost its data counts anew.
      memory.told = Math.min(memory.told, counts.failed);
      if (isEarly || counts.failed === memory.told) return;
      const note = noteOf(workflow, counts.failed - memory.told);
      events.record(workflow, { type: 'Warning', reason: 'RunsFailed', action: 'Execute', note });
      Object.assign(memory, { told: counts.failed, at: clock.now() });
    },
    forget: (key) => void memories.delete(objectKey(key)),
  };
}

/** How many had failed when the totals were written last. The status adds those that were cancelled. */
function failedBefore({ status }: Workflow, { failed, cancelled }: Pick<Counts, 'failed' | 'cancelled'>) {
  const further = failed + cancelled - (status?.runs?.failed ?? 0);
  return Math.max(0, failed - Math.max(0, further));
}

function noteOf({ metadata: { namespace, name } }: Workflow, count: number): string {
  const runs = count === 1 ? '1 run has failed' : `${count} runs have failed`;
  return `${runs} since the last Event of this kind. Look at them: kubectl -n ${namespace} get workflowruns --field-selector spec.workflow=${name},status.phase=Failed`;
}
