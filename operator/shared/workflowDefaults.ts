/** The spec of a workflow with the defaults of its project filled in, from which everything is made that depends on them. Pure. */
import type { Workflow } from '../../api/kinds.ts';
import type { ProjectSettingsSpec } from '../../api/projectSettings.ts';

export type WorkflowDefaults = NonNullable<ProjectSettingsSpec['workflowDefaults']>;

/** The workflow with `history` and `timeout` of the defaults where its own spec leaves them out, member by member. */
export function withDefaults(workflow: Workflow, { history, timeout }: WorkflowDefaults): Workflow {
  const { spec } = workflow;
  return {
    ...workflow,
    spec: {
      ...(timeout !== undefined && { timeout }),
      ...spec,
      ...((history ?? spec.history) && { history: { ...history, ...spec.history } }),
    },
  };
}
