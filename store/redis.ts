/**
 * The Redis client, without automatic retries and queues: it never sends a command twice, queues none during
 * an outage, and gives up a connection at once.
 */
import { Redis } from 'ioredis';
import type { Log } from '../kube/log.ts';
import { createTrustReport, trustIn } from './trust.ts';

export type RunStoreOptions = {
  /** `redis://host:port` or `rediss://…`, without credentials. */
  url: string;
  username?: string;
  password?: string;
  /**
   * With `rediss://`: a file with the authorities (PEM) of its certificate, read for each connection.
   * Default: public ones.
   */
  caFile?: string;
  /** How the server lists the connection. */
  name: string;
  log?: Log;
  onStateChange?: (healthy: boolean) => void;
  /**
   * Called right before calls are sent; where it returns false, nothing is sent and calls are `unavailable`.
   * Default: always true.
   */
  maySend?: () => boolean;
};

/** Below the two seconds after which callers have been promised an answer. */
const CALL_TIMEOUT_MS = 1_500;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

/** Opens a client. */
export function openRedis({ url, username, password, name, caFile, log }: RunStoreOptions): Redis {
  const redis = new Redis(url, {
    ...(url.startsWith('rediss:') && { tls: trustIn(caFile, log) }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    connectionName: name,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    // Needs INFO, which shows every project's load; a server that is loading answers LOADING anyway.
    enableReadyCheck: false,
    // Calls in progress fail at once when the connection breaks.
    maxRetriesPerRequest: 0,
    commandTimeout: CALL_TIMEOUT_MS,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) =>
      Math.min(FIRST_RETRY_MS * 2 ** Math.min(times, 10), LONGEST_RETRY_MS) * (0.75 + Math.random() / 2),
  });
  const reportDistrust = createTrustReport(caFile, log);
  redis.on('error', (error: Error) => {
    log?.debug({ error: error.message }, 'run store: connection error');
    reportDistrust(error);
  });
  redis.on(
    'connect',
    () => void setTimeout(() => redis.status === 'connect' && breakOff(redis), CALL_TIMEOUT_MS).unref(),
  );
  redis.setMaxListeners(0);
  return redis;
}

/**
 * Drops the connection, so that the client opens another one. The client's own method waits for the server to
 * close, for which a frozen or vanished server takes many minutes.
 */
export function breakOff(redis: Redis): void {
  redis.stream.destroy();
}

/** Whether a call sent now would reach the server, as far as is known. */
export function isUp(redis: Redis): boolean {
  return redis.status === 'ready' && redis.stream.writable;
}

/** Ends the connection for good. */
export async function closeRedis(redis: Redis): Promise<void> {
  // Between two attempts there is nothing to wait for: the next attempt is cancelled.
  if (redis.status === 'reconnecting') redis.disconnect();
  if (redis.status === 'reconnecting' || redis.status === 'end') return;
  const ended = new Promise<void>((resolve) => redis.once('end', () => resolve()));
  redis.disconnect();
  // Undefined before the first attempt to connect.
  (redis.stream as Redis['stream'] | undefined)?.destroy();
  await ended;
}
