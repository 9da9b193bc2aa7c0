/**
 * Collects the events of a poll up to the limits of their number and bytes. The first event is always
 * accepted.
 */
import type { PollContext, PolledEvent } from './poller.ts';

export type Collection = {
  readonly events: readonly PolledEvent[];
  isFull(): boolean;
  /** Whether the event was accepted. If not, the poll ends before it. */
  add(event: PolledEvent): boolean;
};

/** Creates the collection of one poll. */
export function collect({ limit, maxBytes }: Pick<PollContext, 'limit' | 'maxBytes'>): Collection {
  const events: PolledEvent[] = [];
  let room = maxBytes;
  return {
    events,
    isFull: () => events.length >= limit,
    add: (event) => {
      room -= Buffer.byteLength(JSON.stringify(event.output));
      if (events.length > 0 && room < 0) return false;
      events.push(event);
      return true;
    },
  };
}

/**
 * Waits for the work until `enough` is aborted, and rejects with its reason then. The next poll repeats the
 * work.
 */
export async function untilEnough<T>(work: Promise<T>, enough: AbortSignal): Promise<T> {
  let stop = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    stop = () => reject(enough.reason as Error);
  });
  enough.addEventListener('abort', stop, { once: true });
  if (enough.aborted) stop();
  try {
    return await Promise.race([work, ended]);
  } finally {
    enough.removeEventListener('abort', stop);
  }
}
