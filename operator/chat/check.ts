/** Checks of chat triggers. Pure. */
import { chatAnswerOf } from '../../api/chatAnswer.ts';
import { scopedNodesOfSpec } from '../../api/revision.ts';
import type { Check } from '../workflow/checks/check.ts';

/** One node answers the messages of a chat. */
export const chatsAreAnswered: Check = (spec) => {
  const answer = chatAnswerOf(spec, scopedNodesOfSpec(spec));
  if (answer?.kind !== 'problem') return [];
  const id = spec.nodes.find((node) => node.chat)?.id ?? '';
  return [{ reason: 'InvalidParameters', message: `node ${id}: chat: ${answer.problem}`, trigger: true }];
};
