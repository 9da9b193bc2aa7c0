/** Whether each message of a chat got its answer, once. Pure. */
import type { Violation } from '../violation.ts';
import { messageRuns, type ChatSeen, type SceneEvidence, type Tell } from './seen.ts';
import { CALLING, finalAnswer } from './model.ts';

export function checkChats(evidence: SceneEvidence, tell: Tell): Violation[] {
  const { chats, again } = evidence;
  const own = messageRuns(evidence);
  const counts = Map.groupBy(own, ({ phase }) => phase === 'Succeeded');
  const ends = [...chats, ...(again ? [again] : [])];
  const answered = ends.filter(({ end }) => end && 'done' in end).length;
  // The answer is complete before the run ends, whatever becomes of it.
  const isCounted = answered === (counts.get(true) ?? []).length;
  return [
    ...ends.flatMap((seen) => checkChat(seen, tell)),
    ...(isCounted ? [] : [tell('wrong-answer', `${answered} of ${ends.length} messages were answered`)]),
  ];
}

function checkChat({ id, text, end, shown, isPartial }: ChatSeen, tell: Tell): Violation[] {
  if (!end) return [tell('late', `message ${id} got no end`)];
  if ('error' in end) return [];
  if (end.done !== finalAnswer(text)) return [tell('wrong-answer', `message ${id} got: ${end.done}`)];
  // The end may overtake the last text, which is joined over 50 ms.
  if (isPartial || end.done.startsWith(shown) || CALLING.startsWith(shown)) return [];
  return [tell('wrong-answer', `message ${id} was shown: ${shown}`)];
}
