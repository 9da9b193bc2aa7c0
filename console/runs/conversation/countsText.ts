/** How far an agent is, and what it remembers, in words. */
import { count } from '../../ui/format.ts';
import { countsOf, NO_CONVERSATION, type Conversation } from '../live/conversation.ts';
import type { NodeView } from '../live/nodeView.ts';

/** `2 answers · 1 tool call · …`. Of an ended agent also what is left out of the conversation. */
export function countsText(
  { phase, agent, usage }: NodeView,
  conversation: Conversation = NO_CONVERSATION,
): string {
  const known = countsOf(conversation);
  const { answers, toolCalls, inputTokens, outputTokens } =
    phase === 'Running' ? known : { ...known, ...agent, ...usage };
  const tokens = `${count(inputTokens, 'input token')}, ${count(outputTokens, 'output token')}`;
  const isCounted = inputTokens + outputTokens > 0;
  return [count(answers, 'answer'), count(toolCalls, 'tool call'), ...(isCounted ? [tokens] : [])].join(
    ' · ',
  );
}

/** Of a prompt: what the model was sent before it. */
export function memoryText(turns: number): string {
  return `The model was also sent ${count(turns, 'earlier turn')} from memory.`;
}
