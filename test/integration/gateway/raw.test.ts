import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSummaries } from '../../support/runStore/calls.ts';
import {
  startGatewayHarness,
  PROJECT,
  putRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import {
  CHUNKED,
  CLOSE,
  EVENTS,
  HEAD,
  LENGTH,
  MALFORMED,
  ODD,
  smuggled,
} from '../../support/gateway/rawRequests.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startGatewayHarness();
  await putRoute(harness.client, 'orders');
  await pollUntil('the route', async () => (await fetch(harness.hook('orders'))).status === 405, {
    timeoutMs: 20_000,
  });
});

afterAll(() => harness?.close());

type Exchange = {
  /** Sent once something has come back. */
  next?: string;
  timeoutMs?: number;
};

/** Sends bytes and gives all that comes back until the peer closes. */
function exchange(bytes: string, { next, timeoutMs = 5_000 }: Exchange = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(harness.gateway.publicPort, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    let more = next;
    const overdue = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection was not closed; so far: ${text}`));
    }, timeoutMs);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      if (more !== undefined) socket.write(more, 'latin1');
      more = undefined;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(overdue);
      resolve(text);
    });
  });
}

/** What each answer says, of which every refusal must be a problem. */
function statuses(text: string): number[] {
  const found = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const problems = text.match(/^content-type: application\/problem\+json\b.*\r$/gim) ?? [];
  expect(problems).toHaveLength(found.filter((status) => status >= 400).length);
  return found;
}

test.each(MALFORMED)('%s gets one 400, and the connection ends', async (_what, bytes) => {
  const text = await exchange(bytes);
  expect(statuses(text)).toEqual([400]);
  expect(text).toContain('problem/bad-request');
  expect(text).not.toContain('smuggled');
});

test.each(ODD)('%s: %j', async (_what, answers, bytes) => {
  const text = await exchange(bytes);
  expect(statuses(text)).toEqual(answers);
  expect(text).not.toContain('smuggled');
});

/** How many calls of webhooks were answered with 200. */
async function accepted(): Promise<number> {
  const metrics = await (await fetch(harness.gateway.metricsURL)).text();
  return Number(/route="webhook",status="200"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

test('none of these requests started a run', async () => {
  expect(await readSummaries(harness.runs, PROJECT, workflowUid('orders'), 10)).toEqual([]);
  expect(await accepted()).toBe(0);
});

test.each(EVENTS)('%s is an event', async (_what, bytes) => {
  expect(statuses(await exchange(bytes))).toEqual([200]);
});

test('a header counts at any position among thousands', async () => {
  const send = (key: string, body: string) =>
    exchange(`${HEAD}${'a:\r\n'.repeat(3_000)}Idempotency-Key: ${key}\r\n${CLOSE}${LENGTH}\r\n${body}`);
  expect(statuses(await send('late', '{}'))).toEqual([200]);
  expect(statuses(await send('late', '[]'))).toEqual([422]);
});

test('requests after the last one of a connection are neither read nor answered', async () => {
  const events = await accepted();
  const one = `${HEAD}${LENGTH}\r\n{}`;
  const text = await exchange(`${HEAD}${CLOSE}${LENGTH}\r\n{}${one}${one}`);
  expect(statuses(text)).toEqual([200]);
  expect(await accepted()).toBe(events + 1);
});

test('an accepted request gets its answer, whatever follows on the connection', async () => {
  const events = await accepted();
  const one = `${HEAD}${LENGTH}\r\n{}`;
  expect(statuses(await exchange(`${one}\0${smuggled}`))).toEqual([200]);
  expect(statuses(await exchange(`${one}${one}${CHUNKED}xx\r\n`))).toEqual([200, 200]);
  const tunnel = 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n';
  expect(statuses(await exchange(`${one}${tunnel}${smuggled}`))).toEqual([200]);
  expect(await accepted()).toBe(events + 4);
});

test('a length above the limit is refused before a byte of the body is sent', async () => {
  const text = await exchange(`${HEAD}Content-Length: 1048577\r\n\r\n`);
  expect(statuses(text)).toEqual([413]);
  expect(text).toMatch(/^connection: close\r$/im);
});

test('a client that expects 100-continue for a body that is too large is refused', async () => {
  const text = await exchange(`${HEAD}Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n`);
  expect(statuses(text)).toEqual([413]);
});

test('a client that expects 100-continue gets it', async () => {
  const text = await exchange(
    `${HEAD}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    { next: '{}' },
  );
  expect(statuses(text)).toEqual([100, 200]);
});

test.each([
  ['far above the limit', 17, ''],
  ['a little above the limit, with their end', 9, '0\r\n\r\n'],
])('chunks %s are refused at the limit', async (_how, count, end) => {
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const text = await exchange(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(count)}${end}`);
  expect(statuses(text)).toEqual([413]);
  expect((await fetch(harness.hook('orders'))).status).toBe(405);
});

test.each([
  // Of 1,040 bytes one in a piece, 1,024 and one for each 64 of them.
  [1_040, 200, '"run":'],
  [1_041, 400, 'problem/too-many-chunks'],
])('a body in %i pieces of one byte gets %i', async (pieces, status, says) => {
  const json = `"${'x'.repeat(pieces - 2)}"`;
  const chunks = Array.from(json, (character) => `1\r\n${character}\r\n`).join('');
  const text = await exchange(`${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  expect(statuses(text)).toEqual([status]);
  expect(text).toContain(says);
});

test.each(['with its length', 'in chunks'])(
  'a client that sends far too much %s reads why, and sees no broken connection',
  async (way) => {
    const chunks = () => new Blob(['"', 'x'.repeat(8 * 2 ** 20), '"']);
    for (let time = 0; time < 4; time += 1) {
      const answer = await fetch(harness.hook('orders'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        ...(way === 'in chunks'
          ? { body: chunks().stream(), duplex: 'half' }
          : { body: await chunks().text() }),
      });
      expect(answer.status).toBe(413);
    }
  },
);

test('the body of a refused request is not read to the end', async () => {
  const endless = `${HEAD.replace('application/json', 'text/plain')}Content-Length: 1073741824\r\n\r\n`;
  expect(statuses(await exchange(endless))).toEqual([415]);
  expect(statuses(await exchange(endless.replace('orders', 'unknown')))).toEqual([404]);
});

test('one connection accepts many requests, pipelined too', async () => {
  const one = `${HEAD}Content-Length: 2\r\n\r\n{}`;
  const last = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
  expect(statuses(await exchange(one + one + last))).toEqual([200, 200, 200]);
});

test('a connection stays usable after a refused request whose body was sent', async () => {
  const refused = HEAD.replace('application/json', 'text/plain');
  const last = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
  expect(statuses(await exchange(`${refused}Content-Length: 2\r\n\r\nhi${last}`))).toEqual([415, 200]);
});

test('silent connections and incomplete headers time out after 5 s, bodies after 10 s', async () => {
  const [silence, headers, body] = await Promise.all([
    exchange('', { timeoutMs: 9_000 }),
    exchange(`${HEAD}X-Slow: `, { timeoutMs: 9_000 }),
    exchange(`${HEAD}Content-Length: 10\r\n\r\n{`, { timeoutMs: 14_000 }),
  ]);
  expect(statuses(silence)).toEqual([408]);
  expect(statuses(headers)).toEqual([408]);
  expect(statuses(body)).toEqual([408]);
});

/** Connections whose client does something and is gone in a moment, with a reset. */
async function resetAfter(bytes: string, times: number): Promise<void> {
  const gone = Array.from({ length: times }, (_, time) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(harness.gateway.publicPort, '127.0.0.1', () => {
      socket.write(bytes, 'latin1');
      if (time % 2 === 0) socket.resetAndDestroy();
      else setImmediate(() => socket.resetAndDestroy());
    });
    socket.on('error', () => undefined).on('close', () => resolve());
    return promise;
  });
  await Promise.all(gone);
}

test.each([
  ['a tunnel', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another protocol', `${HEAD}Upgrade: h2c\r\nConnection: Upgrade\r\n${LENGTH}\r\n[`],
  ['what is malformed', '\0'],
  ['the body', `${HEAD}Content-Length: 1000\r\n\r\n{`],
  ['nothing', ''],
])('clients that ask for %s and reset the connection end no process', async (_what, bytes) => {
  await resetAfter(bytes, 100);
  expect(statuses(await exchange(`GET / HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`))).toEqual([404]);
});

test.each([
  ['malformed', '\0'],
  ['a tunnel', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['the last one', `GET / HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['too large', `${HEAD}Content-Length: 1048577\r\n\r\n`],
])(
  'a client that is refused, because its request is %s, cannot hold the connection open',
  async (_what, bytes) => {
    const port = harness.gateway.publicPort;
    const sockets = Array.from({ length: 50 }, () => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(bytes));
      return socket.resume().on('error', () => undefined);
    });
    await Promise.all(sockets.map((socket) => once(socket, 'end')));
    await expect.poll(connections, { timeout: 4_000 }).toBeLessThan(50);
    sockets.forEach((socket) => socket.destroy());
  },
);

/** How many connections the gateway has, of all listeners. */
async function connections(): Promise<number> {
  const metrics = await (await fetch(harness.gateway.metricsURL)).text();
  return Number(/^windlass_gateway_connections (\d+)$/m.exec(metrics)?.[1]);
}

test('no request failed unexpectedly, and no memory is reserved', async () => {
  const metrics = await (await fetch(harness.gateway.metricsURL)).text();
  expect(metrics).not.toMatch(/status="5\d\d"/);
  expect(metrics).toMatch(/^windlass_gateway_in_flight_bytes 0$/m);
  expect(metrics).toMatch(/^windlass_gateway_refused_total\{reason="malformed"\} [1-9]/m);
  expect(harness.gateway.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
});
