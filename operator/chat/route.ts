/** The chat of a route, from the chat trigger of the workflow. Pure. */
import { PUBLIC } from '../../api/access.ts';
import { chatId } from '../../api/chat.ts';
import { chatAnswerOf } from '../../api/chatAnswer.ts';
import { scopedNodesOfSpec } from '../../api/revision.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { ChatTrigger } from '../../api/trigger.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { verificationOf } from '../webhooks/verification.ts';

type Chat = NonNullable<RouteSpec['chat']>;

const TITLE = 'Chat';

/** The chat as the trigger of the workflow declares it. */
export function chatOf(spec: WorkflowSpec, workflowUid: string): Pick<RouteSpec, 'chat'> {
  const trigger = spec.nodes.find((node) => node.chat)?.chat;
  if (trigger === undefined) return {};
  const { title = TITLE, welcome, suggestions, embedIn } = trigger;
  const answer = chatAnswerOf(spec, scopedNodesOfSpec(spec));
  return {
    chat: {
      id: chatId(workflowUid),
      title,
      ...(welcome !== undefined && { welcome }),
      ...(suggestions && { suggestions }),
      ...(embedIn && { embedIn }),
      ...(answer?.kind === 'text' && { answer: answer.node }),
      ...accessOf(trigger),
    },
  };
}

function accessOf({ access = 'Token', tokenRefs = [] }: ChatTrigger): Pick<Chat, 'access' | 'verify'> {
  if (access === PUBLIC) return { access: PUBLIC };
  const { verify } = verificationOf({ bearer: { secretRefs: tokenRefs } });
  return { access: 'bearer', ...(verify && { verify }) };
}

/** The part of a route's chat that the workflow declares, without the material of its tokens. */
export function declaredChat(chat: Chat | undefined): Chat | undefined {
  if (chat?.verify === undefined) return chat;
  const { material: _material, ...verify } = chat.verify;
  return { ...chat, verify };
}
