/** Logs the state of something that is well or not: each change once, at most one in two seconds. */
import type { Log } from '../kube/log.ts';

const LOG_EVERY_MS = 2_000;

/** A reporter of the state. It was not well at first, and silent after `close`. */
export function createStateLog(
  log: Log | undefined,
  { well, unwell, isWell = false }: { well: string; unwell: string; isWell?: boolean },
): { become: (isWell: boolean) => void; close: () => void } {
  let state = isWell;
  let logged = isWell;
  let isResting = false;
  let isClosed = false;
  const logChange = () => {
    if (isResting || logged === state || isClosed) return;
    logged = state;
    if (state) log?.info({}, well);
    else log?.warn({}, unwell);
    isResting = true;
    setTimeout(() => {
      isResting = false;
      logChange();
    }, LOG_EVERY_MS).unref();
  };
  return {
    become: (now) => {
      state = now;
      logChange();
    },
    close: () => void (isClosed = true),
  };
}
