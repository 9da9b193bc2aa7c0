/**
 * The Redis client, without automatic retries and queues: it never sends a command twice, queues none during
 * an outage, and gives up a connection at once.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { nameOf, parseRunStoreURL, type RunStoreURL, type ServerAddress } from '../api/runStoreURL.ts';
import type { Log } from '../kube/log.ts';
import { Unanswered } from './callErrors.ts';
import { createLogLimit, LOG_EVERY_MS } from './logLimit.ts';
import { afterRunning } from './runningTime.ts';
import { createSentinelTurns, locatePrimary, type Located } from './sentinel.ts';
import { sentinelConnector } from './sentinelConnector.ts';
import { createTrustReport, trustIn, type Trust } from './trust.ts';

export type RunStoreOptions = {
  /** See `api/runStoreURL.ts`; or the path of a socket. */
  url: string;
  username?: string;
  password?: string;
  /**
   * With TLS: a file with the authorities (PEM) of its certificate, read for each connection.
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
  /** How often sentinels, or servers of a cluster, are asked for the primaries; default 5,000 ms. */
  askServersEveryMs?: number;
};

/** Below the two seconds after which callers have been promised an answer. */
export const CALL_TIMEOUT_MS = 1_500;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

/** The primary that a client with sentinels was last connected to. */
const primaries = new WeakMap<Redis, { address?: ServerAddress }>();

/** Where the servers are. A path is the socket of one server of this machine. */
export function placeOf(url: string): RunStoreURL {
  return url.startsWith('/') ? { topology: 'single', isTLS: false } : parseRunStoreURL(url);
}

/** Opens a client. Its calls have no deadline: those of `createSender` do. */
export function openRedis(options: RunStoreOptions): Redis {
  const { username, password, name, caFile, log } = options;
  const place = placeOf(options.url);
  const tls = place.isTLS ? trustIn(caFile, log) : undefined;
  const common: RedisOptions = {
    ...(tls && { tls }),
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
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (times) =>
      Math.min(FIRST_RETRY_MS * 2 ** Math.min(times, 10), LONGEST_RETRY_MS) * (0.75 + Math.random() / 2),
  };
  const redis =
    place.topology === 'sentinel'
      ? openBySentinels(place, common, { tls, log })
      : new Redis(options.url, common);
  const reportDistrust = createTrustReport(caFile, log);
  const reportLogin = createLoginReport(redis, log);
  redis.on('error', (error: Error) => {
    log?.debug({ error: error.message }, 'run store: connection error');
    reportDistrust(error);
    reportLogin(error);
  });
  redis.on('connect', () => limitHandshake(redis));
  redis.setMaxListeners(0);
  return redis;
}

/** Breaks the connection off where the server does not answer its first commands in time. */
function limitHandshake(redis: Redis): void {
  const { stream } = redis;
  const stop = afterRunning(CALL_TIMEOUT_MS, () => stream.destroy());
  redis.once('ready', stop);
  stream.once('close', stop);
}

type Sentinels = Extract<RunStoreURL, { topology: 'sentinel' }>;

function openBySentinels(
  place: Sentinels,
  common: RedisOptions,
  { tls, log }: { tls: Trust | undefined; log: Log | undefined },
): Redis {
  const last: { address?: ServerAddress } = {};
  const report = createLocateReport(log);
  const locate = async () => {
    const located = await locatePrimary(place, tls);
    report(located);
    return located;
  };
  const Connector = sentinelConnector(locate, (address) => void (last.address = address), tls);
  const redis = new Redis({ ...common, Connector });
  primaries.set(redis, last);
  return redis;
}

function createLocateReport(log: Log | undefined): (located: Located) => void {
  const report = createProblemReport(log, 'run store: no primary found');
  return (located) => {
    if ('problem' in located) report(located.problem);
  };
}

/** Logs the problem: another one at once, the same one once a minute. */
export function createProblemReport(log: Log | undefined, message: string): (problem: string) => void {
  let reported = '';
  let nextAt = 0;
  return (problem) => {
    if (problem === reported && performance.now() < nextAt) return;
    reported = problem;
    nextAt = performance.now() + LOG_EVERY_MS;
    log?.warn({ problem }, message);
  };
}

/** The answer to a login with an unknown account or a wrong password, or to a first command without login. */
const LOGIN_REFUSED = /^(WRONGPASS|NOAUTH)\b/;

/** Logs, once a minute, which server refuses the login. Ignores other errors. */
function createLoginReport(redis: Redis, log: Log | undefined): (error: Error) => void {
  const mayLog = createLogLimit();
  return ({ message }) => {
    if (!LOGIN_REFUSED.test(message) || !mayLog()) return;
    const { host = '', port = 0 } = primaries.get(redis)?.address ?? redis.options;
    const fields = { server: nameOf({ host, port }), username: redis.options.username, error: message };
    log?.error(fields, 'run store: refuses the login; check its account and password');
  };
}

export type Locator = {
  /** Asks all sentinels which server is the primary. */
  locate: () => Promise<Located>;
  /** Asks the next one of them. */
  askNext: () => Promise<ServerAddress | undefined>;
};

/** How to ask the sentinels. Undefined where there are none. */
export function locatorOf({ url, caFile, log }: RunStoreOptions): Locator | undefined {
  const place = placeOf(url);
  if (place.topology !== 'sentinel') return undefined;
  const tls = place.isTLS ? trustIn(caFile, log) : undefined;
  return { locate: () => locatePrimary(place, tls), askNext: createSentinelTurns(place, tls) };
}

/**
 * Drops the connections of clients to a server that is no longer the primary: a former primary that is cut
 * off from the others does not end them.
 */
export function leaveFormerPrimary(primary: ServerAddress, clients: readonly Redis[]): void {
  for (const redis of clients) if (isElsewhere(redis, primary)) dropConnection(redis);
}

/** Whether a client is connected to another server than this one. */
export function isElsewhere(redis: Redis, primary: ServerAddress): boolean {
  const { address } = primaries.get(redis) ?? {};
  return address !== undefined && !isSame(address, primary) && isUp(redis);
}

/** Calls back whenever the client has reached another server than before: a replica was promoted. */
export function watchFailovers(redis: Redis, onFailover: () => void): void {
  const last = primaries.get(redis);
  let reached: ServerAddress | undefined;
  redis.on('ready', () => {
    const { address } = last ?? {};
    if (reached && address && !isSame(reached, address)) onFailover();
    reached = address;
  });
}

function isSame(one: ServerAddress, other: ServerAddress): boolean {
  return one.host === other.host && one.port === other.port;
}

/** How many replicas have to confirm writes. */
export function replicasOf({ url }: RunStoreOptions): number {
  const place = placeOf(url);
  return place.topology === 'single' ? 0 : place.replicas;
}

/** Resolves when the client is up; rejects when the signal is aborted before. */
export function untilReady(redis: Redis, signal?: AbortSignal): Promise<void> {
  if (isUp(redis)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const settle = () => {
      redis.off('ready', settle);
      signal?.removeEventListener('abort', settle);
      if (isUp(redis)) resolve();
      else reject(new Unanswered('the run store was not reached'));
    };
    redis.on('ready', settle);
    signal?.addEventListener('abort', settle, { once: true });
    if (signal?.aborted) settle();
  });
}

/** The same with a limit of running time. */
export async function untilReadyWithin(redis: Redis, ms: number): Promise<void> {
  const over = new AbortController();
  const cancel = afterRunning(ms, () => over.abort());
  await untilReady(redis, over.signal).finally(cancel);
}

/**
 * Drops the connection, so that the client opens another one. The client's own method waits for the server to
 * close, for which a frozen or vanished server takes many minutes.
 */
export function dropConnection(redis: Redis): void {
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
