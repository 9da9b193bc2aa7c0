/**
 * Writes calls to the run store: all calls of one turn of the event loop in one write, or in several where
 * they are long. The commands of the client library would cost several times as much: each has a timer, four
 * promises and a write of its own.
 */
import type { Redis } from 'ioredis';
import type { Clock } from '../kube/clock.ts';
import { Unsendable, Unanswered } from './callErrors.ts';
import { dropConnection, isUp } from './redis.ts';
import { createRunningTime } from './runningTime.ts';

/** Rejects with `Unanswered`, `Unsendable`, or the server's error as the client library has it. */
export type Write = (name: string, args: readonly (string | number)[]) => Promise<unknown>;

/** An answer without new bytes for this time does not come any more. */
const MOVING_MS = 400;
/** How much longer than its timeout a call may take while bytes of its answer arrive. */
const LONGER_MS = 8_500;
/**
 * So many characters are sent at once, before the turn ends: the run store begins with them while this
 * process makes the other calls of the turn. Below it, one more write costs more than that gains.
 */
const SENT_AT_ONCE = 6_000;

/** Settled by the client library, when the server answers or the connection breaks. */
class Call {
  readonly name: string;
  readonly args: (string | number)[];
  readonly reject: (error: Error) => void;
  /** When it counts as unanswered, in running time of the connection. */
  deadline = Number.POSITIVE_INFINITY;
  readonly #answer: (reply: unknown) => void;
  readonly #onAnswer: () => void;

  constructor(
    name: string,
    args: readonly (string | number)[],
    [answer, reject]: [answer: (reply: unknown) => void, reject: (error: Error) => void],
    onAnswer: () => void,
  ) {
    this.name = name;
    this.args = [...args];
    this.#answer = answer;
    this.reject = reject;
    this.#onAnswer = onAnswer;
  }

  resolve(reply: unknown): void {
    this.#answer(textOf(reply));
    this.#onAnswer();
  }
}

type WriterOptions = {
  /** Called right before calls are sent; where it returns false, nothing is sent. */
  maySend: () => boolean;
  /** How long a call may take. */
  timeoutMs: number;
  /** Of the timeout. Default: `backgroundClock`. */
  clock?: Clock | undefined;
};

/** Nothing is queued during an outage. */
export function createCallWriter(redis: Redis, { maySend, timeoutMs, clock }: WriterOptions): Write {
  const deadlines = createDeadlines(redis, timeoutMs, clock);
  let calls: Call[] = [];
  let text = '';
  const flush = () => {
    const [waiting, requests] = [calls, text];
    calls = [];
    text = '';
    if (waiting.length === 0) return;
    if (isUp(redis) && maySend()) send(redis, waiting, requests, deadlines);
    else for (const call of waiting) call.reject(new Unanswered('nothing may be sent any more'));
  };
  return (name, args) =>
    new Promise((resolve, reject) => {
      if (!isUp(redis)) {
        // Not at once: a caller that retries in a loop must leave the event loop time to connect.
        setImmediate(() => reject(new Unanswered('the run store is not connected')));
        return;
      }
      const call = new Call(name, args, [resolve, reject], deadlines.onAnswer);
      const request = requestOf(call);
      // The other calls of the turn are sent all the same.
      if (request === undefined) return;
      // What is too long for a string throws here: no call waits for an answer without its request.
      text += request;
      if (calls.length === 0) setImmediate(flush);
      calls.push(call);
      if (text.length >= SENT_AT_ONCE) flush();
    });
}

/**
 * Writes first, right after the check: a process that stands still between them sends what it must not send
 * any more.
 */
function send(
  redis: Redis,
  calls: readonly Call[],
  requests: string,
  deadlines: ReturnType<typeof createDeadlines>,
): void {
  const { stream, commandQueue } = redis;
  stream.write(requests);
  const deadline = deadlines.next();
  for (const call of calls) {
    call.deadline = deadline;
    commandQueue.push({ command: call, stream, select: 0 });
  }
}

/** The call in the protocol of Redis; undefined if it cannot be written, which rejects it. */
function requestOf({ name, args, reject }: Call): string | undefined {
  try {
    let text = `*${args.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
    for (const arg of args) {
      const value = String(arg);
      text += `$${Buffer.byteLength(value)}\r\n${value}\r\n`;
    }
    return text;
  } catch (error) {
    reject(new Unsendable((error as Error).message));
    return undefined;
  }
}

/**
 * Drops the connection when its oldest call has no answer in time, which rejects all of its calls. An
 * answer that is on its way, slowly, has ten seconds; and time in which this process did not run does not
 * count. `next`: the deadline of calls that are sent now. `onAnswer` ends the timer with the last answer
 * (after an error it ends by itself): it would wake a process without calls.
 */
function createDeadlines(redis: Redis, timeoutMs: number, clock?: Clock) {
  let bytes = 0;
  let movedAt = 0;
  const time = createRunningTime((now) => {
    const oldest = redis.commandQueue.peekFront()?.command;
    if (!(oldest instanceof Call)) return false;
    const { bytesRead } = redis.stream;
    if (bytesRead !== bytes) movedAt = now;
    bytes = bytesRead;
    const lateMs = now - oldest.deadline;
    if (lateMs >= 0 && (now - movedAt >= MOVING_MS || lateMs >= LONGER_MS)) dropConnection(redis);
    return true;
  }, clock);
  return {
    next: (): number => {
      time.start();
      return time.now() + timeoutMs;
    },
    onAnswer: (): void => {
      if (redis.commandQueue.length === 0) time.stop();
    },
  };
}

/** The reply with texts in place of bytes. */
function textOf(reply: unknown): unknown {
  if (reply instanceof Uint8Array) return reply.toString();
  return Array.isArray(reply) ? reply.map(textOf) : reply;
}
