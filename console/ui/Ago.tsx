/** A relative time that stays current, with the full time as its title. */
import { useSyncExternalStore } from 'react';
import { ago, fullTime } from './format.ts';

export function Ago({ time }: { time: string }) {
  // Compares the text, so that it redraws only when the text changes.
  const text = useSyncExternalStore(everySecond, () => ago(time, Date.now()));
  return (
    <time dateTime={time} title={fullTime(time)}>
      {text}
    </time>
  );
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all instances. */
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
