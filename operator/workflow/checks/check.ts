/** A check of a workflow: a pure function from the spec to its violations. */
import type { Reason } from '../../../api/conditions.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';

export type Violation = {
  reason: Reason;
  /** What is wrong and what to do. It names node and field, and holds no value of the spec except names. */
  message: string;
  /** True if it concerns the trigger: then the workflow must not be served. */
  trigger?: true;
};

export type Check = (spec: WorkflowSpec) => Violation[];
