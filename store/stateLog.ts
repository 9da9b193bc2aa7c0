/** Logs the state of something that is well or not: each change once, at most one in two seconds. */
import type { Log } from '../kube/log.ts';

const TOLD_MS = 2_000;

/** A reporter of the state. It was not well at first, and silent after `close`. */
export function createStateLog(
  log: Log | undefined,
  { well, unwell, isWell = false }: { well: string; unwell: string; isWell?: boolean },
): { become: (isWell: boolean) => void; close: () => void } {
  let state = isWell;
  let told = isWell;
  let isResting = false;
  let isClosed = false;
  const tell = () => {
    if (isResting || told === state || isClosed) return;
    told = state;
    if (state) log?.info({}, well);
    else log?.warn({}, unwell);
    isResting = true;
    setTimeout(() => {
      isResting = false;
      tell();
    }, TOLD_MS).unref();
  };
  return {
    become: (now) => {
      state = now;
      tell();
    },
    close: () => void (isClosed = true),
  };
}
