/**
 * Leaves a server that is no longer the primary. A former primary that is cut off from the others
 * answers as before, so that connections that only read would stay with it.
 */
import type { Redis } from 'ioredis';
import { isElsewhere, leaveFormerPrimary, locatorOf, type RunStoreOptions } from './redis.ts';

type PrimaryWatch = {
  /**
   * Asks the sentinels now, because the server may not be the primary any more. At most once a second.
   */
  ask: () => void;
  close: () => void;
};

/** Where there are no sentinels to ask. */
const NO_WATCH: PrimaryWatch = { ask: () => undefined, close: () => undefined };

/** Between two questions to the sentinels. */
const ASK_EVERY_MS = 5_000;
const LEAST_PAUSE_MS = 1_000;

/**
 * Asks one of the sentinels every five seconds which server is the primary, and all of them where it
 * names another one than a client is connected to, or none: a thousand runners ask. Where more than
 * half of them name another server, the client leaves its own. `clients`: those that are open now.
 */
export function watchPrimary(options: RunStoreOptions, clients: () => readonly Redis[]): PrimaryWatch {
  const { askServersEveryMs = ASK_EVERY_MS } = options;
  const locator = locatorOf(options);
  if (!locator) return NO_WATCH;
  let isAsking = false;
  let nextAt = 0;
  const ask = async (): Promise<void> => {
    if (isAsking || performance.now() < nextAt) return;
    isAsking = true;
    const located = await locator.locate();
    if ('primary' in located) leaveFormerPrimary(located.primary, clients());
    isAsking = false;
    nextAt = performance.now() + Math.min(LEAST_PAUSE_MS, askServersEveryMs);
  };
  const check = async (): Promise<void> => {
    const named = await locator.askNext();
    if (named === undefined || clients().some((redis) => isElsewhere(redis, named))) await ask();
  };
  // Not all programs at the same time.
  const everyMs = askServersEveryMs * (0.8 + Math.random() * 0.2);
  const timer = setInterval(() => void check(), everyMs).unref();
  return { ask: () => void ask(), close: () => clearInterval(timer) };
}
