/** A check of public chats: of the workflows that messages start beside the chat's own. Pure. */
import { isPublicChat, startedBy } from '../../api/started.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Violation } from '../workflow/checks/check.ts';

/** The spec of a workflow of the namespace; undefined if it does not exist. */
export type SpecOf = (name: string) => Pick<WorkflowSpec, 'nodes' | 'budget' | 'onFailure'> | undefined;

/**
 * Anybody can start the workflows that a public chat runs, or that its failures start. So each of them that
 * has an agent needs a daily budget of its own: that of the chat covers the agents of the chat alone.
 */
export function startedAgentsHaveBudgets(spec: WorkflowSpec, name: string, specOf: SpecOf): Violation[] {
  if (!isPublicChat(spec)) return [];
  return allStartedBy(spec, name, specOf).flatMap((started): Violation[] => {
    const { nodes = [], budget } = specOf(started) ?? {};
    if (budget?.day || !nodes.some(({ agent }) => agent)) return [];
    const message = `anybody can start workflow ${started} by a message to this public chat, and it has an agent without a daily budget: set spec.budget.day of workflow ${started}, or set access of the chat to Token, with tokenRefs`;
    return [{ reason: 'BudgetMissing', message, trigger: true }];
  });
}

/** The names of all other workflows that runs of the workflow start, directly or through others. */
function allStartedBy(spec: WorkflowSpec, name: string, specOf: SpecOf): string[] {
  const seen = new Set(startedBy(spec));
  for (const started of seen) {
    const next = specOf(started);
    for (const other of next ? startedBy(next) : []) seen.add(other);
  }
  seen.delete(name);
  return [...seen];
}
