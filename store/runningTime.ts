/**
 * Time in which the event loop of this process ran. A process that gets no processor, or is suspended, reads
 * no answers: that time must not count against those who answer.
 */
import { systemClock, type Clock } from '../kube/clock.ts';

/** How often time is counted. */
const TICK_MS = 100;
/** The most that a tick counts. A tick that comes later follows a stall of the event loop. */
const LONGEST_TICK_MS = 150;

/** The clock of the system. Its timers do not keep the process alive. */
export const backgroundClock: Clock = {
  ...systemClock,
  timer: (ms, callback) => {
    const handle = setTimeout(callback, ms).unref();
    return () => clearTimeout(handle);
  },
};

type RunningTime = {
  /** The milliseconds that were counted. */
  now: () => number;
  /** Counts from now on, until `check` returns false. */
  start: () => void;
  stop: () => void;
};

/**
 * Counts the time in which the event loop runs, and calls `check` every 100 ms while it counts; not right
 * after a stall, because the event loop first has to read what has come.
 */
export function createRunningTime(
  check: (now: number) => boolean,
  clock: Clock = backgroundClock,
): RunningTime {
  let counted = 0;
  let tickedAt = 0;
  let cancelTick: (() => void) | undefined;
  let wasLate = false;
  const stop = (): void => {
    cancelTick?.();
    cancelTick = undefined;
  };
  const tick = (): void => {
    cancelTick = clock.timer(TICK_MS, tick);
    const passed = clock.now() - tickedAt;
    counted += Math.min(passed, LONGEST_TICK_MS);
    tickedAt += passed;
    // Not twice in a row: on a busy machine every tick may be late.
    wasLate = passed > LONGEST_TICK_MS && !wasLate;
    if (!wasLate && !check(counted)) stop();
  };
  return {
    now: () => (cancelTick ? counted + Math.min(clock.now() - tickedAt, LONGEST_TICK_MS) : counted),
    start: () => {
      if (cancelTick) return;
      tickedAt = clock.now();
      cancelTick = clock.timer(TICK_MS, tick);
    },
    stop,
  };
}

/** Calls back once the event loop has run for this time. Returns a function that prevents it. */
export function afterRunning(ms: number, callback: () => void): () => void {
  const time = createRunningTime((now) => {
    if (now >= ms) callback();
    return now < ms;
  });
  time.start();
  return time.stop;
}
