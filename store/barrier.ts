/**
 * Confirms that replicas have what was written: a write is known to outlive its server once all replicas that
 * may be promoted have it. A connection of its own waits for them, because replicas without answers would
 * delay unrelated calls otherwise. All calls that ask while one barrier is on its way share the next one.
 */
import type { Redis } from 'ioredis';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../kube/log.ts';
import { isSlotError, serverError, Unanswered } from './callErrors.ts';
import { keysOf, type ProjectUid } from './keys.ts';
import { randomText } from './random.ts';
import { CALL_TIMEOUT_MS, closeRedis, isUp, untilReadyWithin } from './redis.ts';
import { backgroundClock, createRunningTime } from './runningTime.ts';
import { defineScript } from './script.ts';
import { createSender } from './sender.ts';
import { createStateLog } from './stateLog.ts';

export type Barrier = {
  /**
   * Makes the call, and answers once all replicas have what the server had written by then. Throws
   * `Unanswered` where they do not confirm it within a second, or within two seconds together with the call:
   * the outcome is unknown, because the call was executed. While replicas do not confirm, calls are not made
   * any more. `isNeeded`: whether an answer has to be confirmed; default: every one.
   */
  replicated: <T>(
    project: ProjectUid,
    call: () => Promise<T>,
    isNeeded?: (answer: T) => boolean,
  ) => Promise<T>;
  close: () => Promise<void>;
};

/** Where no replica has to confirm anything. */
export const NO_BARRIER: Barrier = {
  replicated: (_project, call) => call(),
  close: () => Promise.resolve(),
};

export type BarrierOptions = {
  /** The connection of the calls. */
  main: Redis;
  /** Opens the connection of the barriers, to the same server. */
  open: () => Redis;
  /** Reads a key by the connection of the calls. */
  read: (key: string) => Promise<unknown>;
  /** How many replicas have to confirm. */
  replicas: number;
  log: Log | undefined;
  /** Whether the server belongs to a Redis Cluster. */
  isMember?: boolean;
  /** Called after each barrier that failed. */
  onUnconfirmed: () => void;
  /** Of the deadlines and probes. Default: `backgroundClock`. */
  clock?: Clock;
};

/** How long replicas may take to confirm. */
const WAIT_MS = 1_000;
/** For the connection of the barriers: longer than the server waits. */
const BARRIER_TIMEOUT_MS = 1_250;
/** For a call and its barrier, below the two seconds after which callers have been promised an answer. */
const ANSWER_MS = 1_700;
/** Between two barriers that ask whether replicas confirm again. */
const PROBE_MS = 250;

/**
 * A write right before each `WAIT`: Valkey counts every replica where the connection has written nothing
 * since, also one that is frozen. Executed when the memory is full, too, so that runs can end. It goes to the
 * replicas alone, where the server lets scripts choose: the log of the primary would be synced once more.
 */
const MARK = defineScript({
  flags: 'drains',
  keys: ['barrier'],
  args: ['token'],
  answers: 'OK',
  body: `
    pcall(redis.set_repl, redis.REPL_REPLICA)
    return redis.call('SET', barrier, token, 'PX', 60000)
  `,
});

const NOT_CONNECTED = new Unanswered('the run store is not connected');

/**
 * The server refused a barrier because of the slot of its project: this says nothing about its replicas, and
 * nothing about its other projects.
 */
class SlotUnavailable extends Unanswered {}

export function createBarrier(options: BarrierOptions): Barrier {
  const { main, log, onUnconfirmed, clock = backgroundClock } = options;
  const mainConnection = connectionOf(main);
  const round = createRound(options, mainConnection);
  const state = createStateLog(log, {
    well: 'run store: replicas confirm writes again',
    unwell: 'run store: replicas do not confirm writes',
    isWell: true,
  });
  let isFailing = false;
  let cancelProbe: (() => void) | undefined;
  let isClosed = false;

  const note = (failure?: Error): void => {
    isFailing = failure !== undefined;
    state.become(!isFailing);
    if (failure === undefined || isClosed) return;
    log?.debug({ error: failure.message }, 'run store: barrier failed');
    onUnconfirmed();
  };
  /** While replicas do not confirm, no call asks them. */
  const probeLater = (project: ProjectUid): void => {
    if (!isFailing || isClosed) return;
    cancelProbe ??= clock.timer(PROBE_MS, () => {
      cancelProbe = undefined;
      queue.wait({ project, main: mainConnection() }, Infinity).catch(() => undefined);
    });
  };
  const queue = createQueue(clock, async (project) => {
    // What another connection answered cannot be confirmed.
    const confirmed = isUp(main) ? await round.confirm(project).catch(failureOf) : NOT_CONNECTED;
    if (confirmed instanceof SlotUnavailable) {
      // A probe would ask for this project, whose slot may never come back. The next call asks with its own.
      isFailing = false;
      onUnconfirmed();
      return confirmed;
    }
    if (confirmed !== NOT_CONNECTED) note(confirmed instanceof Error ? confirmed : undefined);
    probeLater(project);
    return confirmed;
  });

  return {
    replicated: async (project, call, isNeeded = () => true) => {
      if (isFailing) {
        // Not at once: a caller that retries in a loop must leave the event loop time.
        await setImmediate();
        throw new Unanswered('replicas do not confirm writes');
      }
      const of = { project, main: mainConnection() };
      const startedAt = clock.now();
      const answer = await call();
      if (!isNeeded(answer)) return answer;
      await queue.wait(of, ANSWER_MS - Math.min(clock.now() - startedAt, CALL_TIMEOUT_MS));
      return answer;
    },
    close: async () => {
      isClosed = true;
      state.close();
      cancelProbe?.();
      await round.close();
    },
  };
}

function failureOf(error: unknown): Unanswered {
  const { message } = error as Error;
  return isSlotError(serverError(error)) ? new SlotUnavailable(message) : new Unanswered(message);
}

/** A call that waits: its project, and which connection answered it. */
type Answered = { project: ProjectUid; main: number };
/** `deadline`: in running time. */
type Waiter = Answered & { deadline: number; resolve: () => void; reject: (error: Error) => void };

/**
 * Calls that wait for barriers. All that wait while a barrier is on its way share the next one, because two
 * at the same time would write the same key. `attempt` makes one, and answers by which connection of the
 * calls, or why it failed.
 */
function createQueue(clock: Clock, attempt: (project: ProjectUid) => Promise<number | Error>) {
  let waiting: Waiter[] = [];
  let isRunning = false;
  const open = new Set<Waiter>();
  const settle = (waiter: Waiter, confirmed: number | Error): void => {
    open.delete(waiter);
    if (confirmed === waiter.main) waiter.resolve();
    else if (confirmed instanceof Error) waiter.reject(confirmed);
    else waiter.reject(new Unanswered('another server may have the connection'));
  };
  const time = createRunningTime((now) => {
    for (const waiter of open)
      if (waiter.deadline <= now) settle(waiter, new Unanswered('replicas did not confirm in time'));
    return open.size > 0;
  }, clock);
  const run = async (): Promise<void> => {
    isRunning = true;
    for (let group = waiting; group.length > 0; group = waiting) {
      waiting = [];
      const project = group[0]?.project ?? '';
      const confirmed = await attempt(project);
      if (confirmed instanceof SlotUnavailable) {
        // The calls of other projects wait for another barrier.
        waiting = [...group.filter((waiter) => waiter.project !== project), ...waiting];
        for (const waiter of group) if (waiter.project === project) settle(waiter, confirmed);
        continue;
      }
      // Calls that came meanwhile would wait as long, and fail as well.
      if (confirmed instanceof Error) group.push(...waiting.splice(0));
      for (const waiter of group) settle(waiter, confirmed);
    }
    isRunning = false;
  };
  return {
    /** Resolves once replicas have what the connection had written; rejects after `ms` at the latest. */
    wait: (of: Answered, ms: number): Promise<void> =>
      new Promise((resolve, reject) => {
        time.start();
        const waiter = { ...of, deadline: time.now() + ms, resolve, reject };
        open.add(waiter);
        waiting.push(waiter);
        if (!isRunning) void run();
      }),
  };
}

/** Counts the connections of a client: two calls with the same count were answered by the same process. */
function connectionOf(redis: Redis): () => number {
  let count = 0;
  redis.on('close', () => void (count += 1));
  return () => count;
}

/** Makes barriers, by a connection that the first one opens. */
function createRound({ open, read, replicas, log, isMember }: BarrierOptions, mainConnection: () => number) {
  const holder = randomText(12);
  let link: ReturnType<typeof openLink> | undefined;
  const linked = () => (link ??= openLink(open(), { log, isMember }));
  /** The connections, of calls and of barriers, that are known to have the same server. */
  let paired = '';

  const confirm = async (project: ProjectUid): Promise<number> => {
    const { redis, sender, connection } = linked();
    await untilReadyWithin(redis, WAIT_MS);
    const of = mainConnection();
    const pair = `${of} ${connection()}`;
    const key = keysOf(project).barrier(holder);
    const token = randomText(12);
    // Not by its hash: a server without the script would wait before anything is written.
    const marked = sender.command('eval', [MARK.lua, 1, key, token]);
    if (pair !== paired) {
      await marked;
      if ((await read(key)) !== token) throw new Unanswered('barrier and calls have different servers');
      if (mainConnection() !== of) throw new Unanswered('the connection of the calls was lost');
      paired = `${of} ${connection()}`;
    }
    const [, confirmed] = await Promise.all([marked, sender.command('wait', [replicas, WAIT_MS])]);
    if (Number(confirmed) < replicas) throw new Unanswered(`${Number(confirmed)} of ${replicas} confirmed`);
    if (pair !== `${of} ${connection()}`) throw new Unanswered('the connection of the barriers was lost');
    return of;
  };
  return {
    confirm,
    close: async () => link && closeRedis(link.redis),
  };
}

function openLink(redis: Redis, { log, isMember = false }: Pick<BarrierOptions, 'log' | 'isMember'>) {
  return {
    redis,
    sender: createSender(redis, { log, isMember, timeoutMs: BARRIER_TIMEOUT_MS }),
    connection: connectionOf(redis),
  };
}
