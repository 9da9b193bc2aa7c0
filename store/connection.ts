/**
 * A connection to the run store. Nothing is ever sent twice, nothing waits for a connection to come back, and every
 * call is answered within two seconds, also by a server that is frozen; what could not be done is a value, `Unavailable`.
 */
import type { Redis } from 'ioredis';
import type { Log } from '../kube/log.ts';
import { breakOff, closeRedis, isUp, openRedis, type RunStoreOptions } from './redis.ts';
import type { Script } from './script.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

/** Why the run store did not do it: nobody answered, it is empty or being seeded, it is full, or a key is of a wrong type. */
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
  /** For this folder alone. Throws `Unanswered`, or what the server answered. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** For this folder alone. Throws like `command`. */
  script(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** For this folder alone: the one connection for all subscriptions of this process, made when first asked for. */
  subscriber(): Subscriber;
};

/** Nobody answered: the call was not sent, or it is not known what became of it. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/**
 * What the server answered instead of a reply. Made anew from the client library's error, which carries the command with all of
 * its arguments: what users sent, and passwords' hashes.
 */
class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(answer: string) {
    // The server quotes what it was sent. What an account may not do it quotes too, but that is the name of a command only.
    super(answer.startsWith('NOPERM') ? answer : answer.replace(/(?<=^|[\s(:=])'.*$/s, '…'));
  }
}

/** The call cannot even be made, such as one of too many arguments: a defect of ours, and no outage that passes. */
class Impossible extends Error {
  override readonly name = 'Impossible';
}

/** Connects in the background, for ever again; until it is there every call answers `unavailable`. */
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

/** A server that comes and goes, since it ends at each start, is told of once in this time. */
const STATE_TOLD_MS = 2_000;

/** What we close ourselves is no loss to be told. */
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
 * Sends what one turn of the event loop asks for as one write. (The client's pipelines would do, but what they leave behind
 * for the collector hangs together from one to the next, so that all of it grows old: half as many collections without them.)
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
  const call = (command: Command): Promise<unknown> => {
    if (!maySend()) return Promise.reject(new Unanswered('nothing may be sent any more'));
    try {
      return redis.call(...(command as [string, ...string[]]));
    } catch (error) {
      // It must not keep those of the same turn from being sent.
      return Promise.reject(new Impossible((error as Error).message));
    }
  };
  return (name, args) =>
    new Promise((resolve, reject) => {
      if (!isUp(redis)) {
        // Not at once: a caller that asks again and again must leave the event loop room to connect.
        setImmediate(() => reject(new Unanswered('the run store is not connected')));
        return;
      }
      const command: Command = [name, ...args];
      if (batch.length === 0) setImmediate(flush);
      batch.push(
        () =>
          void call(command).then(resolve, (error: Error) =>
            reject(failureOf(redis, command, error, onDamage)),
          ),
      );
    });
}

/** What the caller is told: that the server refused, that there was no call, or that it is not known what became of it. */
function failureOf(redis: Redis, command: Command, error: Error, onDamage: DamageReport): Error {
  if (error instanceof Impossible) return error;
  if (error.name === 'ReplyError') {
    if (isDamage(error.message)) onDamage(command);
    if (DEMOTED.test(error.message) && isUp(redis)) breakOff(redis);
    return new Refusal(error.message);
  }
  // A connection that does not answer may be half open: a new one finds out.
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
    // The server was started anew since. It did nothing, so this is the first time that it is asked.
    if (!serverError(error)?.startsWith('NOSCRIPT')) throw error;
    return send('eval', [lua, keys.length, ...keys, ...args]);
  }
}

/** What the server answered, if the error is an answer of it. */
function serverError(error: unknown): string | undefined {
  return error instanceof Refusal ? error.message : undefined;
}

/** How often it is said that keys are damaged. */
const DAMAGE_TOLD_MS = 60_000;

type DamageReport = (command: Command) => void;

/** Says, now and then, which keys a call named that found something of a wrong type: somebody else has written there. */
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

/** States of a server in which it refuses, and which pass: nothing is wrong with what it was asked. */
const PASSING =
  /^(LOADING|BUSY|READONLY|MASTERDOWN|NOREPLICAS|MISCONF|TRYAGAIN|CLUSTERDOWN|MOVED|ASK|UNBLOCKED|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/;

/** Answers of a server that became a replica: only another connection can reach the primary. */
const DEMOTED = /^(READONLY|MASTERDOWN)\b/;

/** Runs calls and turns an outage into a value. Throws only for what is a defect. */
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

/** Tells what a call brought from the outage that kept it from bringing it. */
export function isUnavailable(value: unknown): value is Unavailable {
  return typeof value === 'object' && value !== null && (value as Unavailable).outcome === 'unavailable';
}
