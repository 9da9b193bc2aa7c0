/** Calls whose answers come slowly, and calls of a process that stood still. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { sleep } from '../kube/clock.ts';
import { closeRedis, openRedis, untilReady } from './redis.ts';
import { createSender } from './sender.ts';

const TIMEOUT_MS = 500;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A sender to a server that answers `answer` to the command `slow`, and OK to everything else. */
async function senderTo(answer: (client: Socket) => Promise<void>) {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.on('data', (data) => void answerAll(client, data.toString()));
  });
  const answerAll = async (client: Socket, text: string) => {
    for (const [name] of text.matchAll(/(?<=\*\d+\r\n\$\d+\r\n)\w+/g)) {
      if (name === 'slow') await answer(client);
      else client.write('+OK\r\n');
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => void (await new Promise((resolve) => server.close(resolve))));
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redis = openRedis({ url, name: 'test' });
  ends.push(() => closeRedis(redis));
  await untilReady(redis);
  return createSender(redis, { log: undefined, timeoutMs: TIMEOUT_MS });
}

/** Holds up the event loop, as a machine without a free processor does. */
function stall(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('an answer that comes slowly is waited for, with the calls behind it', async () => {
  const pieces = 12;
  const { command } = await senderTo(async (client) => {
    client.write(`$${pieces}\r\n`);
    for (let piece = 0; piece < pieces; piece += 1) {
      await sleep(100);
      client.write('x');
    }
    client.write('\r\n');
  });
  const answers = await Promise.all([command('slow', []), command('next', [])]);
  expect(answers).toEqual(['x'.repeat(pieces), 'OK']);
});

test('an answer of which nothing comes any more fails all calls of the connection', async () => {
  const { command } = await senderTo(async (client) => void client.write('$1000\r\nx'));
  const startedAt = performance.now();
  const outcomes = await Promise.allSettled([command('slow', []), command('next', [])]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS + 500);
});

test('time in which the event loop did not run does not count', async () => {
  const stalled = Promise.withResolvers<void>();
  const { command } = await senderTo(async (client) => {
    await stalled.promise;
    await sleep(100);
    client.write('+late\r\n');
  });
  const answer = command('slow', []);
  await sleep(50);
  stall(TIMEOUT_MS * 2);
  stalled.resolve();
  expect(await answer).toBe('late');
});
