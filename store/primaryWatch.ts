/**
 * Leaves a server that is no longer the primary. A former primary that is cut off from the others answers as
 * before, so that connections that only read would stay with it.
 */
import type { Redis } from 'ioredis';
import { leaveFormerPrimary, locatorOf, type RunStoreOptions } from './redis.ts';

type PrimaryWatch = {
  /** Asks the sentinels now, because the server may not be the primary any more. At most once a second. */
  ask: () => void;
  close: () => void;
};

/** Where there are no sentinels to ask. */
const NO_WATCH: PrimaryWatch = { ask: () => undefined, close: () => undefined };

/** Between two questions to the sentinels. */
const ASK_EVERY_MS = 5_000;
const LEAST_PAUSE_MS = 1_000;

/**
 * Asks the sentinels every five seconds which server is the primary. Where more than half of them name
 * another one than a client is connected to, the client leaves it. `clients`: those that are open now.
 */
export function watchPrimary(options: RunStoreOptions, clients: () => readonly Redis[]): PrimaryWatch {
  const { askSentinelsEveryMs = ASK_EVERY_MS } = options;
  const locate = locatorOf(options);
  if (!locate) return NO_WATCH;
  let isAsking = false;
  let nextAt = 0;
  const ask = async (): Promise<void> => {
    if (isAsking || performance.now() < nextAt) return;
    isAsking = true;
    const located = await locate();
    if ('primary' in located) leaveFormerPrimary(located.primary, clients());
    isAsking = false;
    nextAt = performance.now() + Math.min(LEAST_PAUSE_MS, askSentinelsEveryMs);
  };
  // Not all programs at the same time.
  const everyMs = askSentinelsEveryMs * (0.8 + Math.random() * 0.2);
  const timer = setInterval(() => void ask(), everyMs).unref();
  return { ask: () => void ask(), close: () => clearInterval(timer) };
}
