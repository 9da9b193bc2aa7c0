/**
 * The text that models write during a run, by node. It lives outside of React, so that thousands of pieces
 * need no rendering; listeners are notified once per frame.
 */

type LiveText = {
  text: string;
  /** Changes when the text restarts with another attempt. */
  beginning: number;
};

export type LiveTexts = {
  read(node: string): LiveText;
  append(node: string, text: string): void;
  /** Discards the text of an earlier attempt. */
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
    append: (node, text) => {
      const before = texts.get(node) ?? NOTHING;
      texts.set(node, { ...before, text: before.text + text });
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
