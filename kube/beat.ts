/**
 * Pauses between periodic work that end together: a process that has nothing else to do wakes once for all of
 * it, not for each loop by itself.
 */
import { systemClock, type Clock } from './clock.ts';

/** What waits for one moment. */
type Moment = { resolve: Set<() => void>; cancel: () => void };

/** By clock, and then by time. */
const moments = new WeakMap<Clock, Map<number, Moment>>();

/**
 * The next multiple of `everyMs`, by the clock, that is at least half of it away: work that took a moment is
 * repeated in time with the other loops, and work that took long has its pause all the same.
 */
export function nextBeat(now: number, everyMs: number): number {
  return Math.ceil((now + everyMs / 2) / everyMs) * everyMs;
}

/**
 * Resolves after about `everyMs`, between half of it and one and a half, or at once when the signal is
 * aborted. All pauses with the same clock end at multiples of their lengths: those of one second and of five
 * together each five seconds. It never rejects: callers check the signal.
 */
export function untilBeat(everyMs: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const at = nextBeat(clock.now(), everyMs);
    const moment = momentOf(clock, at);
    const end = (): void => {
      moment.resolve.delete(end);
      if (moment.resolve.size === 0) leave(clock, at, moment);
      signal.removeEventListener('abort', end);
      resolve();
    };
    moment.resolve.add(end);
    signal.addEventListener('abort', end, { once: true });
  });
}

function momentOf(clock: Clock, at: number): Moment {
  const known = moments.get(clock) ?? new Map<number, Moment>();
  moments.set(clock, known);
  const before = known.get(at);
  if (before) return before;
  const resolve = new Set<() => void>();
  const cancel = clock.timer(at - clock.now(), () => {
    for (const end of resolve) end();
  });
  const moment = { resolve, cancel };
  known.set(at, moment);
  return moment;
}

/** Nobody waits for it any more. */
function leave(clock: Clock, at: number, { cancel }: Moment): void {
  cancel();
  moments.get(clock)?.delete(at);
}
