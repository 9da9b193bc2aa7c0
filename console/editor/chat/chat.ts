/** The test runs of the chat panel: their event, the node that answers, and the answer. Pure. */
import { chatAnswerOf } from '../../../api/chatAnswer.ts';
import type { ScopedNode } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import type { NodeView } from '../../runs/live/nodeView.ts';
import { number } from '../../ui/format.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { testDataOf, triggerKind } from '../model/testData.ts';

export type SentMessage = { text: string; id: string; session: string };

/** A sent message, and the test run that answers it. */
export type Message = { id: string; text: string; run: string };

/** A conversation of the panel. It stays while the panel is closed. */
export type PanelChat = { session: string; messages: readonly Message[] };

export function newPanelChat(): PanelChat {
  return { session: crypto.randomUUID(), messages: [] };
}

/** Whether the chat panel can test the workflow: it has a chat trigger or an agent. */
export function isConversation({ nodes }: Pick<WorkflowSpec, 'nodes'>): boolean {
  return nodes.some(({ chat, agent }) => chat ?? agent);
}

/** The event of a message; the test data of other triggers gets the message as text. */
export function eventOf(trigger: WorkflowNode | undefined, { text, id, session }: SentMessage): object {
  const kind = triggerKind(trigger);
  if (kind === 'manual') return { ...testDataOf(trigger), session, message: text, id };
  if (kind === 'chat') return { text_content: text, data_content: { session, message: text, id } };
  return { ...testDataOf(trigger), text_content: text };
}

/** The node whose output answers: that of the chat, or the last agent. */
export function answeringNode(spec: Pick<WorkflowSpec, 'nodes' | 'edges'>): string | undefined {
  const answer = chatAnswerOf(spec, spec.nodes.map(scopedNode));
  if (answer?.kind === 'text') return answer.node;
  if (answer?.kind === 'response') return spec.nodes.find(({ response }) => response)?.id;
  return spec.nodes.findLast(({ agent, within }) => agent && within === undefined)?.id;
}

function scopedNode(node: WorkflowNode): ScopedNode {
  const { id, within, group, disabled = false } = node;
  return { id, within, group: group !== undefined, trigger: isTrigger(node), disabled };
}

/** Drawing more as Markdown would take seconds. */
const MOST_CHARACTERS = 20_000;
/** The first half of a surrogate pair. */
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;

/** The answer in the output of a node that has succeeded; of a long one the beginning, which says so. */
export function answerText({ output }: Pick<NodeView, 'output'>, isResponse: boolean): string {
  const text = isResponse ? bodyText(output?.data_content) : (output?.text_content ?? '');
  if (text.length <= MOST_CHARACTERS) return text;
  const beginning = text.slice(0, MOST_CHARACTERS).replace(HALF_CHARACTER, '');
  return `${beginning}…\n\nThis is the beginning. Open the run to see all ${number(text.length)} characters.`;
}

function bodyText(content: unknown): string {
  const { body } = (content ?? {}) as { body?: unknown };
  return typeof body === 'string' ? body : JSON.stringify(body ?? null, null, 2);
}
