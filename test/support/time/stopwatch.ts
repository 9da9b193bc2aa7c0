/**
 * Measures how long something took. The time in which this process waited for a processor does not count: on
 * a busy machine that is seconds, and the tested program did not cause it.
 */
import { readFileSync } from 'node:fs';

/**
 * Starts to measure. The function that it returns gives the milliseconds since then, without those in which
 * the thread was ready to run and was given no processor.
 */
export function stopwatch(): () => number {
  const startedAt = performance.now();
  const before = starvedMs();
  return () => performance.now() - startedAt - (starvedMs() - before);
}

/** Of the thread that calls, since its start: the kernel's second counter, in nanoseconds. */
function starvedMs(): number {
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(waitedNs) / 1e6;
}
