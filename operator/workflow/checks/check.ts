/** What a check of a workflow is: a pure function from the spec to what is wrong with it. */
import type { Reason } from '../../../api/conditions.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';

export type Violation = {
  reason: Reason;
  /** What is wrong and what to do about it. Names the node and the field, and holds no value from the spec but names. */
  message: string;
  /** True where it is about the trigger: then nothing may be served under this spec. */
  trigger?: true;
};

export type Check = (spec: WorkflowSpec) => Violation[];
