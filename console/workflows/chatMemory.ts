/** Whether an agent forgets the earlier messages of the chat that starts its workflow. Pure. */
import type { WorkflowNode } from '../../api/workflow.ts';

/** The key of a memory for each chat session; undefined if the agent has a memory or no chat starts it. */
export function missingMemoryKey(nodes: readonly WorkflowNode[], id: string): string | undefined {
  const chat = nodes.find((node) => node.chat !== undefined);
  const agent = nodes.find((node) => node.id === id)?.agent;
  if (chat === undefined || agent === undefined || agent.memory !== undefined) return undefined;
  return `{{ $('${chat.id}').data_content.session }}`;
}
