/** The limits of a workflow for `submit` and `claim`, and its history policy. Pure. */
import { limitOfBudget, type BudgetLimit } from '../../api/budget.ts';
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { FailureTarget, WorkflowLimits } from '../../runs/types/limits.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';

const RUN_TIMEOUT_MS = 3_600_000;
const HISTORY = { succeeded: 10, failed: 10, ttlMs: 168 * 3_600_000 };

/**
 * The limits of the workflow. `routeOf` finds the route of another workflow of the namespace: a failed run
 * can start that workflow only if it has one. `project`: the budget of the project.
 */
export function limitsOf(
  { metadata, spec }: Workflow,
  routeOf: (workflow: string) => WebhookRoute | undefined = () => undefined,
  project?: BudgetLimit,
): WorkflowLimits {
  const { limit, policy = 'Queue' } = spec.concurrency ?? {};
  const { succeeded, failed } = historyPolicy(spec);
  return {
    workflowUid: metadata.uid ?? '',
    ...(spec.suspend === true && { suspended: true }),
    ...(limit !== undefined && { concurrency: limit }),
    policy,
    history: { succeeded, failed },
    ...budgetOf(spec, project),
    ...(spec.onFailure && { onFailure: targetOf(spec.onFailure.workflow, routeOf) }),
    deadlineMs:
      spec.timeout === undefined ? RUN_TIMEOUT_MS : boundedDuration(spec.timeout, DURATION_BOUNDS.runTimeout),
  };
}

function budgetOf(
  { budget }: WorkflowSpec,
  project: BudgetLimit | undefined,
): Pick<WorkflowLimits, 'budget'> {
  if (!budget && !project) return {};
  const { run, day } = budget ?? {};
  return {
    budget: {
      ...(run && { run: limitOfBudget(run) }),
      ...(day && { day: limitOfBudget(day) }),
      ...(project && { project }),
    },
  };
}

function targetOf(workflow: string, routeOf: (workflow: string) => WebhookRoute | undefined): FailureTarget {
  const { workflowUID: uid, revision } = routeOf(workflow)?.spec ?? {};
  return { workflow, ...(uid !== undefined && revision !== undefined && { uid, revision }) };
}

/** `dataTtlMs`: Infinity if inputs and outputs stay as long as the run. */
export type HistoryPolicy = { succeeded: number; failed: number; ttlMs: number; dataTtlMs: number };

/** The history policy of the spec, with defaults filled in. */
export function historyPolicy(spec: Pick<WorkflowSpec, 'history'> | undefined): HistoryPolicy {
  const { succeeded = HISTORY.succeeded, failed = HISTORY.failed, ttl, dataTTL } = spec?.history ?? {};
  return {
    succeeded,
    failed,
    ttlMs: ttl === undefined ? HISTORY.ttlMs : boundedDuration(ttl, DURATION_BOUNDS.history),
    dataTtlMs: dataTTL === undefined ? Infinity : boundedDuration(dataTTL, DURATION_BOUNDS.history),
  };
}
