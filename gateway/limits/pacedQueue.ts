/**
 * A first-in, first-out queue that runs a few items per turn of the event loop. Without it a flood of refused
 * calls would prolong each turn by all of their answers, and every accepted call takes several turns.
 */
import { createBucket, secondsToWait, take as takeToken, type Rate } from './bucket.ts';
import { createQueue } from './queue.ts';

export type PacedQueue = { add: (work: () => void) => void };

const PER_TURN = 4;
/** Until the rate is checked again. */
const PAUSE_MS = 1;

export type PacedQueueOptions = {
  /** How many items run per turn. */
  perTurn?: number;
  /** Limits the rate across turns; left out: unlimited. */
  rate?: Rate;
  /** How many items may wait; more run at once, since waiting takes memory. Left out: unlimited. */
  most?: number;
};

/** Items must not throw. */
export function createPacedQueue({
  perTurn = PER_TURN,
  rate,
  most = Number.POSITIVE_INFINITY,
}: PacedQueueOptions = {}): PacedQueue {
  const bucket = rate && createBucket(rate, performance.now());
  const waiting = createQueue<() => void>();
  let isScheduled = false;
  const mayGoOn = (): boolean => bucket === undefined || secondsToWait(bucket, performance.now()) === 0;
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    if (mayGoOn()) setImmediate(takeSome);
    else setTimeout(takeSome, PAUSE_MS).unref();
  };
  const takeSome = (): void => {
    isScheduled = false;
    for (let done = 0; done < perTurn && mayGoOn(); done += 1) {
      const work = waiting.shift();
      if (work === undefined) return;
      if (bucket) takeToken(bucket);
      work();
    }
    if (waiting.size() > 0) schedule();
  };
  return {
    add: (work) => {
      if (waiting.size() >= most) return work();
      waiting.push(work);
      schedule();
    },
  };
}
