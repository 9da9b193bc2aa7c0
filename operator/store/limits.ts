/** What `submit` and `claim` obey for a workflow, from its spec. */
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { WorkflowLimits } from '../../runs/types.ts';
import { historyPolicy } from '../history/controller.ts';

const RUN_TIMEOUT_MS = 3_600_000;

/** The limits of the workflow. */
export function limitsOf({ metadata, spec }: Workflow): WorkflowLimits {
  const { limit, policy = 'Queue' } = spec.concurrency ?? {};
  const { succeeded, failed } = historyPolicy(spec);
  return {
    workflowUid: metadata.uid ?? '',
    ...(spec.suspend === true && { suspended: true }),
    ...(limit !== undefined && { concurrency: limit }),
    policy,
    history: { succeeded, failed },
    deadlineMs:
      spec.timeout === undefined ? RUN_TIMEOUT_MS : boundedDuration(spec.timeout, DURATION_BOUNDS.runTimeout),
  };
}
