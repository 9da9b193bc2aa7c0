/** Sends the calls of one connection. A call that is not answered is never sent again. */
import type { Redis } from 'ioredis';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../kube/log.ts';
import {
  Unsendable,
  isDamage,
  isDemotion,
  mayBeElsewhere,
  isFromCluster,
  MOVED,
  Refusal,
  serverError,
  Unanswered,
} from './callErrors.ts';
import { createCallWriter } from './callWriter.ts';
import { fieldsOf } from './fields.ts';
import { createLogLimit } from './logLimit.ts';
import { dropConnection, CALL_TIMEOUT_MS, isUp } from './redis.ts';
import type { Script } from './script.ts';

type Argument = string | number;
type Command = readonly [name: string, ...args: Argument[]];

/** Throws `Unanswered`, or the server's error. */
export type Sender = {
  command: (name: string, args: readonly Argument[]) => Promise<unknown>;
  script: (script: Script, keys: readonly string[], args: readonly Argument[]) => Promise<unknown>;
};

type Send = Sender['command'];

type SenderOptions = {
  log: Log | undefined;
  /** See `RunStoreOptions`. */
  maySend?: (() => boolean) | undefined;
  /** How long a call may take. */
  timeoutMs?: number;
  /** Of the timeout. Default: `backgroundClock`. */
  clock?: Clock;
  /** Called where the server takes no writes, because it may not be the primary any more. */
  onDoubt?: () => void;
  /** Whether the server is expected to belong to a Redis Cluster. */
  isMember?: boolean;
};

export function createSender(
  redis: Redis,
  { log, maySend = () => true, timeoutMs = CALL_TIMEOUT_MS, clock, onDoubt, isMember = false }: SenderOptions,
): Sender {
  const report = createReport(log, isMember);
  const write = createCallWriter(redis, { maySend, timeoutMs, clock });
  const send: Send = (name, args) =>
    write(name, args).catch((error: Error) => {
      const failure = failureOf(redis, [name, ...args], error, report);
      if (mayBeElsewhere(serverError(failure))) onDoubt?.();
      throw failure;
    });
  return {
    command: async (name, args) => shaped(name, await send(name, args)),
    script: (script, keys, args) => evaluate(send, script, keys, args),
  };
}

/**
 * A hash as an object. Members with scores as one flat list: the third version of the protocol has pairs.
 */
function shaped(name: string, reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply;
  if (name === 'hgetall') return fieldsOf(reply as string[]);
  return name === 'zrange' ? reply.flat() : reply;
}

/** The error for the caller: the server refused, the call was not sent, or its outcome is unknown. */
function failureOf(redis: Redis, command: Command, error: Error, report: Report): Error {
  if (error instanceof Unsendable || error instanceof Unanswered) return error;
  if (error.name === 'ReplyError') {
    report(command, error.message);
    if (isDemotion(error.message) && isUp(redis)) dropConnection(redis);
    return new Refusal(error.message);
  }
  return new Unanswered(error.message);
}

async function evaluate(
  send: Send,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  try {
    return await send('evalsha', [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    // The server has restarted and lost the script. It did nothing, so that the call may be sent again.
    if (!serverError(error)?.startsWith('NOSCRIPT')) throw error;
    return send('eval', [lua, keys.length, ...keys, ...args]);
  }
}

type Report = (command: Command, answer: string) => void;

/**
 * Logs, once a minute, errors that no retry repairs: the keys of calls that found a key of a wrong type,
 * because somebody else has written it, a Redis Cluster that is configured as one server, and a run store
 * whose data was moved.
 */
function createReport(log: Log | undefined, isMember: boolean): Report {
  const mayLog = createLogLimit();
  return ([name, ...args], answer) => {
    const isUnexpected = isFromCluster(answer) && !isMember;
    if (!isDamage(answer) && !isUnexpected && answer !== MOVED) return;
    if (!mayLog()) return;
    if (isUnexpected) {
      log?.error({ expected: 'redis.topology: cluster' }, 'run store: server belongs to a cluster');
      return;
    }
    if (answer === MOVED) {
      log?.error({}, 'run store: moved to other servers; set redis.url or redis.topology');
      return;
    }
    const keys = name.startsWith('eval') ? args.slice(2, 2 + Number(args[1])) : args.slice(0, 1);
    log?.error({ keys }, 'run store: one of these keys is of a wrong type; see docs/run-store.md');
  };
}
