/** Limits how often a problem that lasts is logged. */

export const LOG_EVERY_MS = 60_000;

/** Returns a function that answers whether to log now: yes at most once a minute. */
export function createLogLimit(): () => boolean {
  let nextAt = 0;
  return () => {
    const now = performance.now();
    if (now < nextAt) return false;
    nextAt = now + LOG_EVERY_MS;
    return true;
  };
}
