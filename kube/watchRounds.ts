/** How long watches last (docs/decisions/0004-short-watches.md). */
import { systemClock, type Clock } from './clock.ts';

/** With the client's grace period of 3 s, a watch and an undetected silence last well under 30 s. */
const LEAST_SECONDS = 18;
const MOST_SECONDS = 23;
/** A watch that would be shorter begins the next round. */
const SHORTEST_SECONDS = 5;

/**
 * Returns the whole seconds that the next watch lasts, so that watches which share the function end at about
 * the same time, in rounds of 18 to 23 seconds: a process without work wakes once to renew all of them.
 * Random, so that replicas do not march in step.
 */
export function createWatchRounds(
  clock: Pick<Clock, 'now'> = systemClock,
  random: () => number = Math.random,
): () => number {
  let endsAt = -Infinity;
  return () => {
    const left = Math.round((endsAt - clock.now()) / 1_000);
    if (left >= SHORTEST_SECONDS) return left;
    const seconds = LEAST_SECONDS + Math.floor(random() * (MOST_SECONDS - LEAST_SECONDS + 1));
    endsAt = clock.now() + seconds * 1_000;
    return seconds;
  };
}
