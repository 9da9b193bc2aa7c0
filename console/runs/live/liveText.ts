/**
 * The text that models write while a run goes on, by node. It lives outside of React: a hundred kilobytes in a thousand pieces are
 * shown without rendering anything anew, and whoever listens is told once a frame.
 */

type LiveText = {
  text: string;
  /** Another number: the text began anew, with another attempt. */
  beginning: number;
};

export type LiveTexts = {
  read(node: string): LiveText;
  append(node: string, text: string): void;
  /** The node begins anew: what it wrote before does not count. */
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
