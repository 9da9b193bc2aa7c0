/** Why the child run of a workflow node does not start, as errors of the node. */
import { StepError } from '../api/reasons.ts';
import type { submitChild } from '../runs/submit.ts';

/** How many levels of child runs there may be. */
const MAX_DEPTH = 10;

export function refusePath(path: readonly string[], name: string): void {
  const at = path.indexOf(name);
  if (at >= 0) {
    const cycle = [...path.slice(at), name].join(' → ');
    const message = `workflow ${name} would run itself without end: ${cycle}. Remove one of these workflow nodes`;
    throw new StepError('WorkflowCycle', message);
  }
  if (path.length <= MAX_DEPTH) return;
  const message = `workflow ${name} would be nested more than ${MAX_DEPTH} levels deep: ${path.join(' → ')}. Run it from a workflow nearer to the root`;
  throw new StepError('TooDeep', message);
}

export function missing(name: string): StepError {
  const message = `there is no valid workflow ${name} in this namespace: apply it and correct what its condition Valid says, or correct workflow.name`;
  return new StepError('WorkflowMissing', message);
}

type Refusal = Exclude<Awaited<ReturnType<typeof submitChild>>, { outcome: 'accepted' | 'unavailable' }>;

export function refusal(
  name: string,
  run: string,
  refused: Refusal | { outcome: 'full' | 'deleted' },
): StepError {
  switch (refused.outcome) {
    case 'fenced':
      return new StepError('Cancelled', 'the run is no longer executed here');
    case 'stopped':
      return new StepError('Cancelled', 'the run was cancelled');
    case 'suspended':
      return new StepError('Suspended', `workflow ${name} is suspended: set its spec.suspend to false`);
    case 'deleted': {
      const message = `workflow ${name} was deleted: apply it again, or correct workflow.name`;
      return new StepError('WorkflowMissing', message);
    }
    case 'rejected': {
      const message = `${refused.limit} runs of workflow ${name} execute already, and its concurrency policy is Reject: set retry on this node, or the policy Queue`;
      return new StepError('ConcurrencyLimit', message, { retryable: true });
    }
    case 'full': {
      const message = `the project has no room in the run store for a run of workflow ${name}: set retry on this node, or run less at a time`;
      return new StepError('RunStoreFull', message);
    }
    case 'too-many': {
      const message = `no run of workflow ${name} starts, because the root of this run has 10,000 descendants: pass several items to each child run`;
      return new StepError('TooManyChildren', message);
    }
    case 'conflict':
      return new StepError('NameTaken', `the run store still has another run named ${run}: delete that run`);
  }
}
