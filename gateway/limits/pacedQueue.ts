/**
 * What may wait for its turn: a few pieces of work for each turn of the event loop, first come, first served. Whoever is refused
 * may: answered as they come, a flood of calls that are refused would make each turn as long as all of its answers take, and
 * every call that is served waits for several turns.
 */
import { createBucket, secondsToWait, take as takeToken, type Rate } from './bucket.ts';
import { createQueue } from './queue.ts';

export type PacedQueue = { add: (work: () => void) => void };

const PER_TURN = 4;
/** Until one looks again whether a token is there. */
const PAUSE_MS = 1;

export type PacedQueueOptions = {
  /** Pieces that are done in one turn at most. */
  perTurn?: number;
  /** How many are done at most, however few turns that takes; left out: as many as come. */
  rate?: Rate;
  /** So many may wait; what is more is done at once, since what waits takes room. Left out: all. */
  most?: number;
};

/** Work must not throw. */
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
