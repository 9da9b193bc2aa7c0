import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSummaries } from '../../../runs/read.ts';
import { NAMESPACE, openDoor, PROJECT, putRoute, workflowUid, type Door } from '../../support/door.ts';
import { pollUntil } from '../../support/poll.ts';

let door: Door;

beforeAll(async () => {
  door = await openDoor();
  await putRoute(door.client, 'orders');
  await pollUntil('the route', async () => (await fetch(door.hook('orders'))).status === 405, {
    timeoutMs: 5_000,
  });
});

afterAll(() => door.close());

const TARGET = `/webhook/${NAMESPACE}.orders/new`;
const HEAD = `POST ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

type Exchange = {
  /** Sent once something has come back. */
  next?: string;
  timeoutMs?: number;
};

/** Sends bytes and gives all that comes back until the other side closes. */
function exchange(bytes: string, { next, timeoutMs = 5_000 }: Exchange = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(door.gateway.publicPort, '127.0.0.1', () => socket.write(bytes, 'latin1'));
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

const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((found) => Number(found[1]));

const smuggled = `GET ${TARGET}?smuggled HTTP/1.1\r\nHost: x\r\n\r\n`;

test.each([
  [
    'both ways to tell the length',
    `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}${smuggled}`],
  ['a length that is no number', `${HEAD}Content-Length: +2\r\n\r\n{}`],
  ['a space before the colon', `${HEAD}Content-Length : 2\r\n\r\n{}${smuggled}`],
  ['a bare line feed in a value', `${HEAD}X-A: b\nX-C: d\r\nContent-Length: 2\r\n\r\n{}`],
  ['a bare carriage return in a value', `${HEAD}X-A: b\rX-C: d\r\nContent-Length: 2\r\n\r\n{}`],
  ['a folded header', `${HEAD}X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}`],
  ['a chunk size that is no number', `${HEAD}Transfer-Encoding: chunked\r\n\r\nxx\r\n{}\r\n0\r\n\r\n`],
  ['an unknown transfer coding', `${HEAD}Transfer-Encoding: gzip, chunked, x\r\n\r\n{}`],
  ['no Host', `POST ${TARGET} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`],
  ['HTTP/0.9', `GET ${TARGET}\r\n\r\n`],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
])('%s gets one 400, and the connection ends', async (_what, bytes) => {
  const text = await exchange(bytes);
  expect(statuses(text)).toEqual([400]);
  expect(text).not.toContain('smuggled');
});

test('none of all that started a run', async () => {
  expect(await readSummaries(door.runs, PROJECT, workflowUid('orders'), 10)).toEqual([]);
  const metrics = await (await fetch(door.gateway.metricsURL)).text();
  expect(metrics).not.toMatch(/route="webhook",status="200"/);
});

test('a header block beyond 16 KiB is a 431', async () => {
  const text = await exchange(`${HEAD}X-Long: ${'x'.repeat(17_000)}\r\nContent-Length: 2\r\n\r\n{}`);
  expect(statuses(text)).toEqual([431]);
  expect(text).toContain('problem/headers-too-large');
});

test('a length above the limit is refused before a byte of the body is sent', async () => {
  const text = await exchange(`${HEAD}Content-Length: 1048577\r\n\r\n`);
  expect(statuses(text)).toEqual([413]);
  expect(text).toMatch(/^connection: close\r$/im);
});

test('a client that asks before it sends too much is refused, and not told to go on', async () => {
  const text = await exchange(`${HEAD}Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n`);
  expect(statuses(text)).toEqual([413]);
});

test('a client that asks before it sends what is fine is told to go on', async () => {
  const text = await exchange(
    `${HEAD}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    { next: '{}' },
  );
  expect(statuses(text)).toEqual([100, 200]);
});

test('chunks above the limit are refused at the limit', async () => {
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const text = await exchange(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}`);
  expect(statuses(text)).toEqual([413]);
});

test.each(['with its length', 'in chunks'])(
  'a client that sends far too much %s reads why, and sees no broken connection',
  async (way) => {
    const chunks = () => new Blob(['"', 'x'.repeat(8 * 2 ** 20), '"']);
    for (let time = 0; time < 4; time += 1) {
      const answer = await fetch(door.hook('orders'), {
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

test('whoever is refused for another reason is not read to the end either', async () => {
  const endless = `${HEAD.replace('application/json', 'text/plain')}Content-Length: 1073741824\r\n\r\n`;
  expect(statuses(await exchange(endless))).toEqual([415]);
  expect(statuses(await exchange(endless.replace('orders', 'unknown')))).toEqual([404]);
});

test('chunks below the limit are an event', async () => {
  const text = await exchange(
    `${HEAD}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`,
  );
  expect(statuses(text)).toEqual([200]);
});

test('one connection takes many requests, also pipelined', async () => {
  const one = `${HEAD}Content-Length: 2\r\n\r\n{}`;
  const last = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
  expect(statuses(await exchange(one + one + last))).toEqual([200, 200, 200]);
});

test('a refused request leaves the connection usable where its body was sent', async () => {
  const refused = HEAD.replace('application/json', 'text/plain');
  const last = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
  expect(statuses(await exchange(`${refused}Content-Length: 2\r\n\r\nhi${last}`))).toEqual([415, 200]);
});

test('headers that do not end are given up after 5 s, bodies after 10 s', async () => {
  const [headers, body] = await Promise.all([
    exchange(`${HEAD}X-Slow: `, { timeoutMs: 9_000 }),
    exchange(`${HEAD}Content-Length: 10\r\n\r\n{`, { timeoutMs: 14_000 }),
  ]);
  expect(statuses(headers)).toEqual([408]);
  expect(statuses(body)).toEqual([408]);
});
