/** Logs changes between two states, well and unwell: each change once, at most one in two seconds. */
import type { Log } from '../kube/log.ts';

const LOG_EVERY_MS = 2_000;

/** A reporter of the state, which begins as `isWell` says. It logs nothing after `close`. */
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
