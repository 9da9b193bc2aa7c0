/** Workflows for tests of their checks. */
import type { WorkflowEdge, WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';

export const webhook: WorkflowNode = { id: 'trigger', webhook: { path: 'orders' } };
export const agent = (prompt: string, more: Partial<WorkflowNode> = {}): WorkflowNode => ({
  id: 'agent_1',
  agent: { credential: 'llm', model: 'small', prompt },
  ...more,
});
export const mail = (parameters: Record<string, unknown>): WorkflowNode => ({
  id: 'mail',
  skill: { name: 'send_email', credential: 'smtp', parameters },
});
export const good = { to: 'ada@example.com', subject: 'Hello', body: 'Text' };
export const shape = (values: unknown): WorkflowNode => ({
  id: 'shape',
  skill: { name: 'set', parameters: { values } },
});

export function spec(nodes: WorkflowNode[], edges?: WorkflowEdge[]): WorkflowSpec {
  return { active: true, nodes, ...(edges && { edges }) };
}

/** A violation, what has it, and what its message says. */
export type Invalid = [sentence: string, spec: WorkflowSpec, reason: string, says: RegExp];
