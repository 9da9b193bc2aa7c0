/** Whether a workflow may be executed. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { workflowFindings } from '../lint/workflows.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import type { LocalProject } from './project.ts';

/**
 * The operator lets no run of an invalid workflow start.
 * @throws CommandError if it is invalid
 */
export async function requireValid(name: string, spec: WorkflowSpec, project: LocalProject): Promise<void> {
  const found = await workflowFindings(name, spec, project);
  const errors = found.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  if (errors.length > 0)
    throw new CommandError(EXIT.failed, `workflow ${name} is invalid: ${errors.join('\n')}`);
}
