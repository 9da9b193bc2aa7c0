/** How the bodies of requests are read, and the memory that they take. */
import { once } from 'node:events';
import { createServer, request, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { pollUntil } from '../../test/support/time/poll.ts';
import { createInFlight } from '../limits/inFlight.ts';
import { createPacedQueue, type PacedQueue } from '../limits/pacedQueue.ts';
import { readBody, type Body } from './body.ts';

const LIMIT = 1_000_000;

test('the memory of a body that turns out too large is freed at once, not by the garbage collector', async () => {
  await using reader = await openReader();
  const body = Buffer.alloc(LIMIT + 50_000, 'a');
  const before = process.memoryUsage().arrayBuffers;
  for (let bodies = 0; bodies < 20; bodies += 1) {
    expect(await reader.send(body)).toEqual({ outcome: 'too-large' });
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
});

test('so is the memory of an aborted body', async () => {
  await using reader = await openReader();
  const body = Buffer.alloc(900_000, 'a');
  const before = process.memoryUsage().arrayBuffers;
  for (let bodies = 0; bodies < 20; bodies += 1) {
    expect(await reader.breakOff(body)).toEqual({ outcome: 'aborted' });
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000);
});

test.each([
  ['that announces its length takes no more room than that', { 'content-length': '600000' }, 600_000],
  ['that does not takes room in advance, up to the limit', { 'transfer-encoding': 'chunked' }, LIMIT],
])('a body %s', async (_what, headers, most) => {
  await using reader = await openReader();
  const body = Buffer.concat([Buffer.alloc(400_000, 'a'), Buffer.alloc(200_000, 'b')]);
  expectRead(await reader.send(body, headers), body);
  expect(reader.most()).toBeGreaterThan(most / 2);
  expect(reader.most()).toBeLessThanOrEqual(most);
});

test('one piece of a large body is read per turn, and the rest waits in the connection', async () => {
  const waiting: (() => void)[] = [];
  await using reader = await openReader({ add: (work) => void waiting.push(work) });
  const body = Buffer.alloc(600_000, 'a');
  let queue = 0;
  const read = reader.send(body);
  while (reader.bytesRead() < body.length) {
    await pollUntil('a piece to wait', () => waiting.length === 1, { timeoutMs: 10_000, everyMs: 1 });
    expect(reader.bytesRead()).toBeLessThan((queue + 1) * 70_000);
    queue += 1;
    waiting.pop()?.();
  }
  expectRead(await read, body);
  expect(queue).toBeGreaterThan(7);
});

test('a small body does not wait', async () => {
  await using reader = await openReader({ add: () => expect.unreachable() });
  const body = Buffer.alloc(16_000, 'a');
  expectRead(await reader.send(body), body);
});

/** To compare megabytes as values takes seconds. */
function expectRead(read: Body | undefined, body: Buffer): void {
  expect(read?.outcome).toBe('read');
  expect(read?.outcome === 'read' && Buffer.compare(read.bytes, body)).toBe(0);
}

/** A server that reads bodies, and a client of it. */
async function openReader(queue: PacedQueue = createPacedQueue()) {
  const inFlight = createInFlight(4 * LIMIT, LIMIT);
  let most = 0;
  let bytesRead = () => 0;
  const bodies: Promise<Body>[] = [];
  const server = createServer((incoming, response) => {
    const reservation = inFlight.reserve();
    if (reservation === undefined) throw new Error('there is no room');
    const empty = inFlight.bytes();
    bytesRead = () => incoming.socket.bytesRead;
    incoming.on('data', () => {
      most = Math.max(most, inFlight.bytes() - empty);
    });
    const body = readBody(incoming, response, { limit: LIMIT, reservation, queue });
    bodies.push(body);
    void body.finally(() => {
      reservation.release();
      response.setHeader('connection', 'close').end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const begin = (headers: OutgoingHttpHeaders) => {
    bytesRead = () => 0;
    return request({ port, method: 'POST', headers }).on('error', () => undefined);
  };
  const judged = async () => {
    await pollUntil('the body to come', () => bodies.length > 0, { timeoutMs: 10_000, everyMs: 1 });
    return bodies.pop();
  };
  return {
    send: (body: Buffer, headers: OutgoingHttpHeaders = { 'transfer-encoding': 'chunked' }) => {
      begin(headers).end(body);
      return judged();
    },
    breakOff: async (body: Buffer) => {
      const sent = begin({ 'transfer-encoding': 'chunked' });
      sent.write(body);
      await pollUntil('most of it to come', () => bytesRead() > body.length, {
        timeoutMs: 10_000,
        everyMs: 1,
      });
      sent.destroy();
      return judged();
    },
    most: () => most,
    bytesRead: () => bytesRead(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
