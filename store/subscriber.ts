/**
 * One connection for all subscriptions of a process. Messages may be lost during an outage: listeners are
 * called when it is over, and read the state themselves. Nothing may depend on a message alone.
 */
import type { Redis } from 'ioredis';
import { dropConnection, CALL_TIMEOUT_MS, closeRedis } from './redis.ts';
import { afterRunning } from './runningTime.ts';

export type Subscriber = {
  /**
   * Calls `onMessage` for each message of the channel, and with undefined whenever messages may have been
   * lost. The promise resolves when the server has confirmed, or is unavailable: then the listener is called
   * later.
   */
  subscribe(channel: string, onMessage: (message: string | undefined) => void): Promise<Subscription>;
  close(): Promise<void>;
};

type Subscription = { end(): void };

/** The interval of pings. */
const PING_MS = 5_000;

type Listener = (message: string | undefined) => void;

export function createSubscriber(redis: Redis): Subscriber {
  const channels = new Map<string, Set<Listener>>();
  redis.on('message', (channel: string, message: string) => tell(channels.get(channel), message));
  redis.on('ready', () => {
    const names = [...channels.keys()];
    const all = () => [...channels.values()].forEach((listeners) => tell(listeners, undefined));
    if (names.length === 0) return;
    answered(redis, redis.subscribe(...names)).then(all, () => dropConnection(redis));
  });
  const ping = setInterval(() => {
    if (redis.status === 'ready') answered(redis, redis.ping()).catch(() => dropConnection(redis));
  }, PING_MS);
  ping.unref();

  return {
    subscribe: async (channel, onMessage) => {
      const listeners = channels.get(channel);
      if (listeners) listeners.add(onMessage);
      else channels.set(channel, new Set([onMessage]));
      // Also for a further listener: the caller waits for the server's confirmation.
      await answered(redis, redis.subscribe(channel)).catch(() => retryLater(redis));
      return { end: () => unsubscribe(redis, channels, channel, onMessage) };
    },
    close: () => {
      clearInterval(ping);
      channels.clear();
      return closeRedis(redis);
    },
  };
}

/** The answer. Where none comes in time, the connection is broken off, which rejects it. */
async function answered<T>(redis: Redis, asked: Promise<T>): Promise<T> {
  const cancel = afterRunning(CALL_TIMEOUT_MS, () => dropConnection(redis));
  return asked.finally(cancel);
}

/**
 * Without a connection, `ready` subscribes. A connection without answers is dropped, so that `ready` follows.
 */
function retryLater(redis: Redis): void {
  if (redis.status === 'ready') dropConnection(redis);
}

function tell(listeners: Set<Listener> | undefined, message: string | undefined): void {
  // A copy: a listener may end itself.
  for (const listener of Array.from(listeners ?? [])) listener(message);
}

function unsubscribe(
  redis: Redis,
  channels: Map<string, Set<Listener>>,
  channel: string,
  listener: Listener,
): void {
  const listeners = channels.get(channel);
  if (!listeners?.delete(listener) || listeners.size > 0) return;
  channels.delete(channel);
  redis.unsubscribe(channel).catch(() => undefined);
}
