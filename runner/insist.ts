/**
 * Calls of the run store that must be answered: an outage delays what is done, and changes nothing about it.
 */
import { sleep } from '../kube/clock.ts';
import type { Unavailable } from '../runs/types.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Calls until the store has answered; undefined when the signal is aborted before. */
export async function insist<T extends { outcome: string }>(
  call: () => Promise<T | Unavailable>,
  abandon: AbortSignal,
): Promise<Exclude<T, Unavailable> | undefined> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const outcome = await call();
    if (outcome.outcome !== 'unavailable') return outcome as Exclude<T, Unavailable>;
    await sleep(pause, abandon);
    if (abandon.aborted) return undefined;
  }
}
