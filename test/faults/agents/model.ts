/** What the model of the agents answers: its script follows from the conversation alone. Pure. */
import type { ScriptedMessage } from '../../support/providers/model/scriptedServer.ts';

export type ChatMessage = {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};

/** How the model calls its tools: in one answer each, all in one answer, one of them, or none. */
const MODES = {
  serial: 'one by one',
  parallel: 'at once',
  short: 'with one',
  none: 'only answer',
} as const;
export type Mode = keyof typeof MODES;

const TOOLS = ['lookup', 'mail', 'refund'] as const;

/** The tools that are called for a message. */
export const CALLED: Record<Mode, readonly string[]> = {
  serial: TOOLS,
  parallel: TOOLS,
  short: ['lookup'],
  none: [],
};

/** The text of a message of a chat, from which the model knows what to do. */
export const promptOf = (scene: string, mode: Mode): string => `${scene} ${MODES[mode]}`;

/** The scene of a conversation, and which answer of the current message is asked for, from 1. */
export function placeOf(messages: readonly ChatMessage[]): { scene: string; step: number; text: string } {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const text = messages[at]?.content ?? '';
  const step = messages.slice(at).filter(({ role }) => role === 'assistant').length + 1;
  return { scene: text.split(' ')[0] ?? '', step, text };
}

/** The last answer to a message. */
export const finalAnswer = (prompt: string): string => `All is done that you asked for with: ${prompt}`;

/** The text beside tool calls. */
export const CALLING = 'One moment, I will see to it.';

export function answerTo(messages: readonly ChatMessage[]): ScriptedMessage {
  const { step, text } = placeOf(messages);
  const called = calledIn(text, step);
  if (called.length === 0) return { text: finalAnswer(text) };
  const calls = called.map((name, index) => ({
    id: `call_${messages.length}_${index}`,
    name,
    arguments: name === 'mail' ? '{"body":"Hello"}' : '{}',
  }));
  return { text: CALLING, calls };
}

function calledIn(text: string, step: number): readonly string[] {
  if (text.endsWith(MODES.serial)) return TOOLS.slice(step - 1, step);
  if (text.endsWith(MODES.short)) return CALLED.short.slice(step - 1, step);
  return text.endsWith(MODES.parallel) && step === 1 ? TOOLS : [];
}
