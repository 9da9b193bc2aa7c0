/** How long ago something was, which stays true while one looks; the time itself is its title. */
import { useSyncExternalStore } from 'react';
import { ago, fullTime } from './format.ts';

export function Ago({ time }: { time: string }) {
  // What is compared is the text, so that nothing is drawn anew while it stays the same.
  const text = useSyncExternalStore(everySecond, () => ago(time, Date.now()));
  return (
    <time dateTime={time} title={fullTime(time)}>
      {text}
    </time>
  );
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all that tick. */
function everySecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const tell of listeners) tell();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
