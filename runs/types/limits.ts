/** Limits of a workflow. */
import type { BudgetLimit } from '../../api/budget.ts';

/** The limits of a workflow, which `claim` and `submit` obey; for live runs and for test runs separately. */
export type WorkflowLimits = {
  workflowUid: string;
  /** `submit` refuses every event, and no run is claimed. */
  suspended?: boolean;
  concurrency?: number;
  policy: 'Queue' | 'Reject' | 'Replace';
  deadlineMs: number;
  /** How many ended runs are recorded: beyond them only summaries are kept. Default 10 each. */
  history?: { succeeded: number; failed: number };
  /** The workflow that a failed live run starts. */
  onFailure?: FailureTarget;
  budget?: BudgetLimits;
};

/** What agents may use: in a run, in a day of the group of runs, and in a day of the project. */
export type BudgetLimits = {
  run?: BudgetLimit | undefined;
  day?: BudgetLimit | undefined;
  project?: BudgetLimit | undefined;
};

/** The workflow that a failure starts. Without `uid` and `revision` it is not in effect. */
export type FailureTarget = { workflow: string; uid?: string; revision?: string };
