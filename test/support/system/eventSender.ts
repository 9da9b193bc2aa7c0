/** Sends events at a steady rate, whatever is answered, and remembers every answer. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, WholeSystem } from './wholeSystem.ts';

export type SentEvent = Answer & { key: string; at: number };

export type Sender = {
  /**
   * What was answered so far, in the order of the answers. `at`: when it was sent, on the monotonic clock.
   */
  events: SentEvent[];
  /** Sends nothing more, and waits for the answers. */
  stop(): Promise<SentEvent[]>;
};

let senders = 0;

/** Starts to send; every event has a key of its own. */
export function startSender(
  { send }: Pick<WholeSystem, 'send'>,
  workflow: string,
  perSecond: number,
): Sender {
  const name = `sender-${(senders += 1)}`;
  const events: SentEvent[] = [];
  const stopping = new AbortController();
  const sendOne = async (key: string) => {
    const at = performance.now();
    events.push({ ...(await send(workflow, key)), key, at });
  };
  const sending = (async () => {
    const open: Promise<void>[] = [];
    for (let count = 0; !stopping.signal.aborted; count += 1) {
      open.push(sendOne(`${name}-${count}`));
      await delay(1_000 / perSecond);
    }
    await Promise.all(open);
    return events;
  })();
  return {
    events,
    stop: () => {
      stopping.abort();
      return sending;
    },
  };
}
