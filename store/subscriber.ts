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

/** In a Redis Cluster. `onDoubt`: called where the server may no longer have a channel. */
type Sharded = { onDoubt: () => void };

/** How the server is asked for messages. */
type Channels = {
  event: 'message' | 'smessage';
  subscribe: (names: readonly string[]) => Promise<unknown>;
  unsubscribe: (name: string) => Promise<unknown>;
};

function channelsOf(redis: Redis, sharded: Sharded | undefined): Channels {
  if (!sharded)
    return {
      event: 'message',
      subscribe: (names) => redis.subscribe(...names),
      unsubscribe: (name) => redis.unsubscribe(name),
    };
  redis.on('moved', sharded.onDoubt);
  return {
    event: 'smessage',
    // One command for each: their slots differ.
    subscribe: async (names) => {
      await Promise.all(names.map((name) => redis.ssubscribe(name))).catch((error: Error) => {
        sharded.onDoubt();
        throw error;
      });
    },
    unsubscribe: (name) => redis.sunsubscribe(name),
  };
}

/** `sharded`: for channels of slots, which a Redis Cluster has. */
export function createSubscriber(redis: Redis, sharded?: Sharded): Subscriber {
  const channels = new Map<string, Set<Listener>>();
  const asked = channelsOf(redis, sharded);
  redis.on(asked.event, (channel: string, message: string) => tell(channels.get(channel), message));
  redis.on('ready', () => {
    const names = [...channels.keys()];
    const all = () => [...channels.values()].forEach((listeners) => tell(listeners, undefined));
    if (names.length === 0) return;
    answered(redis, asked.subscribe(names)).then(all, () => dropConnection(redis));
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
      await answered(redis, asked.subscribe([channel])).catch(() => retryLater(redis));
      return {
        end: () => {
          if (!removeListener(channels, channel, onMessage)) return;
          asked.unsubscribe(channel).catch(() => undefined);
        },
      };
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

/** Whether it was the last listener of the channel. */
function removeListener(channels: Map<string, Set<Listener>>, channel: string, listener: Listener): boolean {
  const listeners = channels.get(channel);
  if (!listeners?.delete(listener) || listeners.size > 0) return false;
  channels.delete(channel);
  return true;
}
