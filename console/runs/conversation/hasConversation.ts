/** Whether a node has a conversation to show. */
import type { Conversation } from '../live/conversation.ts';
import type { NodeView } from '../live/nodeView.ts';

/** Whether the node has or will have a conversation. `isAgent`: it is an agent with tools. */
export function hasConversation(node: NodeView, live: Conversation | undefined, isAgent: boolean): boolean {
  if (node.transcript !== undefined || node.agent !== undefined || live !== undefined) return true;
  return isAgent && node.phase === 'Running' && node.items === undefined;
}
