/**
 * The text that models write during a run, by node. It lives outside of React, so that thousands of pieces
 * need no rendering; listeners are notified once per frame.
 */

type LiveText = {
  text: string;
  /** Changes when the text restarts with another attempt. */
  beginning: number;
  /** Of the answer in the transcript of an agent. */
  position?: number;
};

/** `position`: of the answer in the transcript of an agent. */
export type TextPlace = { position?: number; reset?: true };

export type LiveTexts = {
  read(node: string): LiveText;
  /**
   * `place`: the answer that the text belongs to. Text of another answer, and with `reset` of an earlier
   * request for the same one, is discarded.
   */
  append(node: string, text: string, place?: TextPlace): void;
  /** Discards the text of an earlier attempt, or of an answer that is complete. */
  restart(node: string): void;
  subscribe(listener: () => void): () => void;
};

const NOTHING: LiveText = { text: '', beginning: 0 };

export function createLiveTexts(nextFrame: (run: () => void) => unknown = requestFrame): LiveTexts {
  const texts = new Map<string, LiveText>();
  const listeners = new Set<() => void>();
  let isDue = false;

  function tell(): void {
    if (isDue) return;
    isDue = true;
    nextFrame(() => {
      isDue = false;
      for (const listener of listeners) listener();
    });
  }

  return {
    read: (node) => texts.get(node) ?? NOTHING,
    append: (node, text, { position, reset } = {}) => {
      const before = texts.get(node) ?? NOTHING;
      const place = position === undefined ? {} : { position };
      const isNew = before.text !== '' && (reset === true || position !== before.position);
      if (isNew) texts.set(node, { text, beginning: before.beginning + 1, ...place });
      else texts.set(node, { text: before.text + text, beginning: before.beginning, ...place });
      tell();
    },
    restart: (node) => {
      const before = texts.get(node);
      if (before === undefined || before.text === '') return;
      texts.set(node, { text: '', beginning: before.beginning + 1 });
      tell();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function requestFrame(run: () => void): void {
  requestAnimationFrame(run);
}
