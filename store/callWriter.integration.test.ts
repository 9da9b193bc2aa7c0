/** Calls whose answers come slowly, and calls of a process that stood still. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { closeRedis, openRedis, untilReady } from './redis.ts';
import { createSender } from './sender.ts';

const TIMEOUT_MS = 500;
/** How often the sender checks for answers. */
const TICK_MS = 100;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A sender, with a clock of its own, to a server that answers OK until it gets the command `slow`. */
async function startSlowServer() {
  const asked = Promise.withResolvers<Socket>();
  let isAsked = false;
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.on('data', (data) => {
      const names = [...data.toString().matchAll(/(?<=\*\d+\r\n\$\d+\r\n)\w+/g)].map(([name]) => name);
      if (names.includes('slow')) {
        isAsked = true;
        asked.resolve(client);
      }
      if (!isAsked) client.write('+OK\r\n'.repeat(names.length));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => void (await new Promise((resolve) => server.close(resolve))));
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redis = openRedis({ url, name: 'test' });
  ends.push(() => closeRedis(redis));
  await untilReady(redis);
  const closed = once(redis.stream, 'close');
  const clock = createManualClock();
  const sent: Promise<unknown>[] = [];
  const { command } = createSender(redis, { log: undefined, timeoutMs: TIMEOUT_MS, clock });
  return {
    clock,
    /** Sends a call of so many characters, and says whether it was sent at once. */
    isSentAtOnce: (characters: number) => {
      const before = redis.stream.bytesWritten;
      sent.push(command('fast', ['x'.repeat(characters)]));
      return redis.stream.bytesWritten > before;
    },
    /** Resolves with the answers of these calls. */
    answers: () => Promise.all(sent),
    /** Sends a call that is answered at once. */
    ask: () => command('fast', []),
    /** Resolves once the server has got `slow`. */
    asked: asked.promise,
    /** Sends `slow`, and another call behind it. */
    call: () => Promise.allSettled([command('slow', []), command('next', [])]),
    /** The server sends the text. Resolves once it was read, or the connection was dropped. */
    answer: async (text: string) => {
      const client = await asked.promise;
      const read = once(redis.stream, 'data');
      client.write(text);
      await Promise.race([read, closed]);
    },
  };
}

/** What was answered; for a call that failed, its error. */
function valuesOf(outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason));
}

test('an answer that comes slowly is waited for, with the calls behind it', async () => {
  const { clock, call, answer } = await startSlowServer();
  const pieces = 12;
  const outcomes = call();
  await answer(`$${pieces}\r\n`);
  for (let piece = 0; piece < pieces; piece += 1) {
    await clock.advance(TICK_MS);
    await answer('x');
  }
  await answer('\r\n+OK\r\n');
  expect(valuesOf(await outcomes)).toEqual(['x'.repeat(pieces), 'OK']);
});

test('with the last answer no timer is left, which would wake the process', async () => {
  const { ask, clock } = await startSlowServer();
  await Promise.all([ask(), ask()]);
  expect(clock.timers()).toBe(0);
  await ask();
  expect(clock.timers()).toBe(0);
});

test('calls of one turn are sent together at its end, or as soon as they are long', async () => {
  const { isSentAtOnce, answers } = await startSlowServer();
  const lengths = [10, 3_000, 3_000, 10, 100_000, 10];
  expect(lengths.map(isSentAtOnce)).toEqual([false, false, true, false, true, false]);
  expect(await answers()).toEqual(lengths.map(() => 'OK'));
});

test('an answer of which nothing comes any more fails all calls of the connection', async () => {
  const { clock, call, answer } = await startSlowServer();
  let isOver = false;
  const outcomes = call().finally(() => (isOver = true));
  await answer('$1000\r\nx');
  await clock.advance(TIMEOUT_MS - TICK_MS);
  expect(isOver).toBe(false);
  await clock.advance(TICK_MS);
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test.each([
  { before: TICK_MS, after: TICK_MS },
  // The event loop first has to read what has come.
  { before: TIMEOUT_MS - TICK_MS, after: 0 },
])(
  'time in which the event loop did not run does not count, where it ran for $before ms before and $after ms after',
  async ({ before, after }) => {
    const { clock, asked, call, answer } = await startSlowServer();
    const outcomes = call();
    await asked;
    await clock.advance(before);
    clock.stall(TIMEOUT_MS * 2);
    await clock.advance(0);
    await clock.advance(after);
    await answer('+late\r\n+OK\r\n');
    expect(valuesOf(await outcomes)).toEqual(['late', 'OK']);
  },
);
