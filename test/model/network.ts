/**
 * The network of one project: what clients send arrives one call after the other, in the order in which it
 * was sent, but for what a step of the history loses, delays or holds up.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * What becomes of one call. `lost`: it never arrives. `unanswered`: it is executed, and the client does not
 * hear of it. `late`: the client gives up, and it is executed later. `slow`: it arrives later, and the client
 * waits. `refused`: the client knows that nothing was done.
 */
export const FATES = ['lost', 'unanswered', 'late', 'slow', 'refused'] as const;
export type How = (typeof FATES)[number];
/** What a call is sent to: the run store, or the API server. */
export type Receiver = 'store' | 'api';
/** `at`: which of the operation's calls to that receiver meets it, from 0. */
export type Fate = { to: Receiver; at: number; how: How };

/** Something that a client does, in one or more calls. */
type Operation = {
  fate: Fate | undefined;
  calls: Record<Receiver, number>;
  underWay: number;
  isDelayed: boolean;
  ended: Promise<void>;
};

type Delayed = { execute: () => Promise<unknown>; operation: Operation };

/** Executes a call as the operation's fate has it; `fail` throws what a client sees of an outage. */
type Send = <T>(to: Receiver, execute: () => Promise<T>, fail: (how: How) => Promise<never>) => Promise<T>;

export type Network = {
  send: Send;
  /** Lets a client do something, until that has ended or waits for a call that is delayed. */
  perform(fate: Fate | undefined, work: () => Promise<void>): Promise<void>;
  /** Executes without any client, in its turn. */
  oneByOne<T>(execute: () => Promise<T>): Promise<T>;
  /** How many calls have not arrived yet. */
  delayed(): number;
  /** One of them arrives; where its client waits for it, that goes on to its end. */
  deliver(index: number): Promise<void>;
};

const current = new AsyncLocalStorage<Operation>();

/** A network of its own. `onDefect` is told what an operation threw. */
export function createNetwork(onDefect: (error: unknown) => void): Network {
  const delayed: Delayed[] = [];
  let last: Promise<unknown> = Promise.resolve();

  function oneByOne<T>(execute: () => Promise<T>): Promise<T> {
    const executed = last.then(execute);
    last = executed.catch(() => undefined);
    return executed;
  }

  async function sendNow<T>(operation: Operation | undefined, execute: () => Promise<T>): Promise<T> {
    if (operation) operation.underWay += 1;
    try {
      return await oneByOne(execute);
    } finally {
      if (operation) operation.underWay -= 1;
    }
  }

  function hold<T>(operation: Operation, execute: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    operation.isDelayed = true;
    delayed.push({
      operation,
      execute: async () => {
        await oneByOne(execute).then(resolve, reject);
        await operation.ended;
      },
    });
    return promise;
  }

  return {
    oneByOne,
    send: async (to, execute, fail) => {
      const operation = current.getStore();
      const index = operation ? operation.calls[to]++ : 0;
      const fate = operation?.fate;
      if (!operation || fate?.to !== to || fate.at !== index) return sendNow(operation, execute);
      const { how } = fate;
      if (how === 'slow') return hold(operation, execute);
      if (how === 'unanswered') await sendNow(operation, execute).catch(() => undefined);
      if (how === 'late')
        delayed.push({ operation, execute: () => oneByOne(execute).catch(() => undefined) });
      return fail(how);
    },
    perform: async (fate, work) => {
      const operation: Operation = {
        fate,
        calls: { store: 0, api: 0 },
        underWay: 0,
        isDelayed: false,
        ended: Promise.resolve(),
      };
      operation.ended = current.run(operation, work).catch(onDefect);
      if (fate?.how === 'slow') await settledOrDelayed(operation);
      else await operation.ended;
    },
    delayed: () => delayed.length,
    deliver: async (index) => {
      const [call] = delayed.splice(index % delayed.length, 1);
      await call?.execute();
    },
  };
}

/** Resolves when the operation has ended, or waits for the call that is delayed and for no other. */
async function settledOrDelayed(operation: Operation): Promise<void> {
  const state = { isOver: false };
  const over = operation.ended.finally(() => void (state.isOver = true));
  while (!state.isOver) {
    const isQuiet = operation.isDelayed && operation.underWay === 0;
    // What follows an answer is sent in the same turn of the event loop.
    await turn();
    if (isQuiet && operation.underWay === 0) return;
  }
  await over;
}
