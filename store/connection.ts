/**
 * A connection to the run store. It never sends a call twice or queues one during an outage, and each call is
 * answered within two seconds, also when the server is frozen. A call that failed answers `Unavailable`.
 */
import type { Redis } from 'ioredis';
import type { Log } from '../kube/log.ts';
import { breakOff, closeRedis, isUp, openRedis, type RunStoreOptions } from './redis.ts';
import type { Script } from './script.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

/**
 * Why a call failed: no answer, the store is empty or being seeded, it is full, or a key is of a wrong type.
 */
export type Unavailable = {
  outcome: 'unavailable';
  why: 'connection' | 'no-store' | 'full' | 'damaged';
  retryAfterSeconds: number;
};

export type RunStoreConnection = {
  /** Whether a call sent now would be answered, as far as is known. */
  healthy(): boolean;
  /** Resolves when the connection is up; rejects when the signal is aborted before. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** For modules of `store` and `runs`. Throws `Unanswered`, or the server's error. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** For modules of `store` and `runs`. Throws like `command`. */
  script(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /**
   * For modules of `store` and `runs`: the connection for all subscriptions of this process, opened on first
   * use.
   */
  subscriber(): Subscriber;
};

/** The call was not sent, or its outcome is unknown. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/**
 * An error of the server. Not the client library's error, which contains the command with all arguments: data
 * of users, and hashes of passwords.
 */
class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(answer: string) {
    // The server quotes arguments. In NOPERM it quotes only the name of the command.
    super(answer.startsWith('NOPERM') ? answer : answer.replace(/(?<=^|[\s(:=])'.*$/s, '…'));
  }
}

/** The call cannot be sent, for example because of too many arguments: a defect, not an outage. */
class Impossible extends Error {
  override readonly name = 'Impossible';
}

/** Connects in the background, and reconnects for ever. Until then every call answers `unavailable`. */
export function connectRunStore(options: RunStoreOptions): RunStoreConnection {
  const redis = openRedis(options);
  const send = createSender(redis, createDamageReport(options.log), options.maySend);
  let subscriber: Subscriber | undefined;
  const closing = new AbortController();
  watchState(redis, options, closing.signal);
  return {
    healthy: () => isUp(redis),
    ready: (signal) => untilReady(redis, signal),
    command: (name, ...args) => send(name, args),
    script: (script, keys, args) => evaluate(send, script, keys, args),
    subscriber: () =>
      (subscriber ??= createSubscriber(openRedis({ ...options, name: `${options.name}-events` }))),
    close: async () => {
      closing.abort();
      await Promise.all([subscriber?.close(), closeRedis(redis)]);
    },
  };
}

/** The state is logged at most once in this time, also when the server restarts in a loop. */
const STATE_TOLD_MS = 2_000;

/** A connection that we close is not logged as lost. */
function watchState(redis: Redis, { log, onStateChange }: RunStoreOptions, closing: AbortSignal): void {
  let healthy = false;
  let told = false;
  let isResting = false;
  const tell = () => {
    if (isResting || told === healthy || closing.aborted) return;
    told = healthy;
    if (healthy) log?.info({}, 'run store: connected');
    else log?.warn({}, 'run store: connection lost');
    isResting = true;
    setTimeout(() => {
      isResting = false;
      tell();
    }, STATE_TOLD_MS).unref();
  };
  const become = (now: boolean) => {
    if (now === healthy) return;
    healthy = now;
    tell();
    onStateChange?.(now);
  };
  redis.on('ready', () => become(true));
  redis.on('close', () => become(false));
}

function untilReady(redis: Redis, signal?: AbortSignal): Promise<void> {
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

type Command = readonly [name: string, ...args: (string | number)[]];
type Send = (name: string, args: readonly (string | number)[]) => Promise<unknown>;

/**
 * Sends all calls of one turn of the event loop as one write. (The client's pipelines link garbage from one
 * to the next, so that all of it ages: half as many collections without them.)
 */
function createSender(redis: Redis, onDamage: DamageReport, maySend = (): boolean => true): Send {
  let batch: (() => void)[] = [];
  const flush = () => {
    const calls = batch;
    batch = [];
    const { stream } = redis;
    stream.cork();
    for (const call of calls) call();
    stream.uncork();
  };
  const call: Send = (name, args) => {
    if (!maySend()) return Promise.reject(new Unanswered('nothing may be sent any more'));
    try {
      return redis.call(name, ...args);
    } catch (error) {
      // The other calls of the batch are sent all the same.
      return Promise.reject(new Impossible((error as Error).message));
    }
  };
  return (name, args) =>
    new Promise((resolve, reject) => {
      if (!isUp(redis)) {
        // Not at once: a caller that retries in a loop must leave the event loop time to connect.
        setImmediate(() => reject(new Unanswered('the run store is not connected')));
        return;
      }
      if (batch.length === 0) setImmediate(flush);
      batch.push(
        () =>
          void call(name, args).then(resolve, (error: Error) =>
            reject(failureOf(redis, [name, ...args], error, onDamage)),
          ),
      );
    });
}

/** The error for the caller: the server refused, the call was not sent, or its outcome is unknown. */
function failureOf(redis: Redis, command: Command, error: Error, onDamage: DamageReport): Error {
  if (error instanceof Impossible) return error;
  if (error.name === 'ReplyError') {
    if (isDamage(error.message)) onDamage(command);
    if (DEMOTED.test(error.message) && isUp(redis)) breakOff(redis);
    return new Refusal(error.message);
  }
  // A connection without answers may be half open: a new one is opened.
  if (error.message === 'Command timed out' && isUp(redis)) breakOff(redis);
  return new Unanswered(error.message);
}

async function evaluate(
  send: Send,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await send('evalsha', [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    // The server has restarted and lost the script. It did nothing, so that the call may be sent again.
    if (!serverError(error)?.startsWith('NOSCRIPT')) throw error;
    return send('eval', [lua, keys.length, ...keys, ...args]);
  }
}

/** The server's error message, if the error is the server's. */
function serverError(error: unknown): string | undefined {
  return error instanceof Refusal ? error.message : undefined;
}

/** Damaged keys are logged at most once in this time. */
const DAMAGE_TOLD_MS = 60_000;

type DamageReport = (command: Command) => void;

/** Logs the keys of calls that found a key of a wrong type: somebody else has written it. */
function createDamageReport(log: Log | undefined): DamageReport {
  let nextAt = 0;
  return ([name, ...args]) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + DAMAGE_TOLD_MS;
    const keys = name.startsWith('eval') ? args.slice(2, 2 + Number(args[1])) : args.slice(0, 1);
    log?.error({ keys }, 'run store: one of these keys is of a wrong type; see docs/run-store.md');
  };
}

function isDamage(answer: string | undefined): boolean {
  return answer?.startsWith('WRONGTYPE') === true;
}

/** Temporary states of a server in which it refuses calls. */
const PASSING =
  /^(LOADING|BUSY|READONLY|MASTERDOWN|NOREPLICAS|MISCONF|TRYAGAIN|CLUSTERDOWN|MOVED|ASK|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/;

/** Errors of a server that became a replica: only a new connection can reach the primary. */
const DEMOTED = /^(READONLY|MASTERDOWN)\b/;

/** Turns an outage into a value. Throws only for a defect. */
export async function orUnavailable<T>(call: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await call();
  } catch (error) {
    return unavailableFor(error);
  }
}

function unavailableFor(error: unknown): Unavailable {
  if (error instanceof Unanswered) return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };
  const answer = serverError(error) ?? '';
  if (answer.startsWith('NOLOG')) return { outcome: 'unavailable', why: 'no-store', retryAfterSeconds: 5 };
  if (answer.startsWith('OOM')) return { outcome: 'unavailable', why: 'full', retryAfterSeconds: 10 };
  if (isDamage(answer)) return { outcome: 'unavailable', why: 'damaged', retryAfterSeconds: 10 };
  if (PASSING.test(answer)) return { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 2 };
  throw error;
}

/** Whether a call failed because of an outage. */
export function isUnavailable(value: unknown): value is Unavailable {
  return typeof value === 'object' && value !== null && (value as Unavailable).outcome === 'unavailable';
}
