/** Gathers the events of a poll, up to as many and as many bytes as are wanted. The first event is taken whatever it has. */
import type { PollContext, PolledEvent } from './poller.ts';

export type Collection = {
  readonly events: readonly PolledEvent[];
  isFull(): boolean;
  /** Whether the event was taken; where it was not, the poll ends before it. */
  add(event: PolledEvent): boolean;
};

/** An empty collection for one poll. */
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

/** Waits for the work for as long as it is not enough: what is under way then is left to the next poll. Throws the signal's reason. */
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
