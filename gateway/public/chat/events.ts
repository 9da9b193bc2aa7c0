/** The events of a chat's stream, from the live events of a run. Viewers see nothing else of a run. Pure. */
import type { RunEvent } from '../../../runs/types/event.ts';
import { problemOf, problemType, type ProblemCode } from '../../contract/problems.ts';

export type ChatEvent =
  /** More text of the answer. */
  | { type: 'text'; text: string }
  /**
   * The answer starts over with this text. `partial`: text before it is missing until `done`, because it is
   * no longer kept.
   */
  | { type: 'reset'; text: string; partial?: true }
  /** The whole answer. */
  | { type: 'done'; text: string }
  /** There is no answer. */
  | { type: 'error'; problem: ProblemCode };

/**
 * Returns a function that turns each live event, in order, into an event of the chat; undefined for events
 * that do not concern it. `node`: whose text is the answer.
 */
export function createAnswerReader(node: string | undefined): (event: RunEvent) => ChatEvent | undefined {
  let lastId = 0;
  let shown: string | undefined;
  let hasGap = false;
  return (event) => {
    const id = Number(event.id);
    hasGap ||= id !== lastId + 1;
    lastId = id;
    if (event.type !== 'text' || event.node !== node) return undefined;
    const { text, call = 0, delivery = 0 } = event;
    const source = `${delivery}/${call}`;
    const isContinued = source === shown && !hasGap;
    const isFirst = shown === undefined && !hasGap;
    // Text that a gap may have cut belongs to a call that had begun before.
    const partial = hasGap && (shown === undefined || shown === source);
    shown = source;
    hasGap = false;
    if (isContinued || isFirst) return { type: 'text', text };
    return { type: 'reset', text, ...(partial && { partial }) };
  };
}

/** One event in wire format (WHATWG HTML, section 9.2). */
export function chatEventText(event: ChatEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`;
}

function dataOf(event: ChatEvent): Record<string, unknown> {
  if (event.type !== 'error') {
    const { type: _type, ...data } = event;
    return data;
  }
  const { title, detail } = problemOf(event.problem);
  return { type: problemType(event.problem), title, detail };
}
