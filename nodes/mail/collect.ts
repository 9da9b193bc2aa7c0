/** Gathers the events of a look, up to as many and as many bytes as are wanted. The first event is taken whatever it has. */
import type { PollContext, PolledEvent } from '../poller.ts';

export type Collection = {
  readonly events: readonly PolledEvent[];
  isFull(): boolean;
  /** Whether the event was taken; where it was not, the look ends before it. */
  add(event: PolledEvent): boolean;
};

/** An empty collection for one look. */
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
