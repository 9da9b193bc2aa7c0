/** Which runs a workflow starts, and who can start runs of it. Pure. */
import { PUBLIC } from './access.ts';
import { calleesOf, type WorkflowSpec } from './workflow.ts';

type Starting = Pick<WorkflowSpec, 'nodes' | 'onFailure'>;

/** The names of the workflows that nodes, tools and failures of the workflow start. */
export function startedBy(spec: Starting): string[] {
  return [...calleesOf(spec), ...(spec.onFailure ? [spec.onFailure.workflow] : [])];
}

/** Whether anybody can start runs of the workflow by a message. */
export function isPublicChat({ nodes }: Pick<WorkflowSpec, 'nodes'>): boolean {
  return nodes.some(({ chat }) => chat?.access === PUBLIC);
}
