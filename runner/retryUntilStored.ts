/**
 * Retries calls of the run store during an outage, with back-off.
 */
import { sleep } from '../kube/clock.ts';
import type { Unavailable } from '../store/connection.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Calls until the run store has answered; undefined if the signal is aborted before. */
export async function retryUntilStored<T extends { outcome: string }>(
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
