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
const LENGTH = 'Content-Length: 2\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const over = (version: string) => `${HEAD.replace('HTTP/1.1', version)}${LENGTH}\r\n{}`;

/** What no two programs may read differently. After the first sign of it nothing is believed any more. */
const MALFORMED: [what: string, bytes: string][] = [
  ['both ways to tell the length', `${HEAD}${LENGTH}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['an empty transfer coding and a length', `${HEAD}Transfer-Encoding:\r\n${LENGTH}\r\n{}${smuggled}`],
  ['two lengths', `${HEAD}${LENGTH}Content-Length: 3\r\n\r\n{}${smuggled}`],
  ['the same length twice', `${HEAD}${LENGTH}${LENGTH}\r\n{}${smuggled}`],
  ['a list of lengths', `${HEAD}Content-Length: 2, 2\r\n\r\n{}${smuggled}`],
  ['a length with a sign', `${HEAD}Content-Length: +2\r\n\r\n{}`],
  ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n{}`],
  ['a hexadecimal length', `${HEAD}Content-Length: 0x2\r\n\r\n{}`],
  ['a length with a space in it', `${HEAD}Content-Length: 2 3\r\n\r\n{}`],
  ['an empty length', `${HEAD}Content-Length:\r\n\r\n{}`],
  ['a length that no counter holds', `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`],
  ['a space before the colon', `${HEAD}Content-Length : 2\r\n\r\n{}${smuggled}`],
  ['a space in the name of a header', `${HEAD}X A: b\r\n${LENGTH}\r\n{}`],
  ['a header without a name', `${HEAD}: b\r\n${LENGTH}\r\n{}`],
  ['a header without a colon', `${HEAD}X-A\r\n${LENGTH}\r\n{}`],
  ['a bare line feed in a value', `${HEAD}X-A: b\nX-C: d\r\n${LENGTH}\r\n{}`],
  ['a bare carriage return in a value', `${HEAD}X-A: b\rX-C: d\r\n${LENGTH}\r\n{}`],
  ['bare line feeds all over', `${HEAD}${LENGTH}\r\n{}`.replaceAll('\r\n', '\n')],
  ['headers that end with a bare line feed', `${HEAD}${LENGTH}\n{}`],
  ['a folded header', `${HEAD}X-A: b\r\n c\r\n${LENGTH}\r\n{}`],
  ['a first header that is folded', `POST ${TARGET} HTTP/1.1\r\n Host: x\r\n${LENGTH}\r\n{}`],
  ['a NUL in a value', `${HEAD}X-A: b\0c\r\n${LENGTH}\r\n{}`],
  ['a NUL in a name', `${HEAD}X-\0A: b\r\n${LENGTH}\r\n{}`],
  ['a NUL in the address', `POST ${TARGET}\0 HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['a NUL alone', '\0'],
  ['a control character in a value', `${HEAD}X-A: b\u0001c\r\n${LENGTH}\r\n{}`],
  ['a chunk size that is no number', `${CHUNKED}xx\r\n{}\r\n0\r\n\r\n`],
  ['a negative chunk size', `${CHUNKED}-2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${CHUNKED}0x2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size with a space', `${CHUNKED}2 \r\n{}\r\n0\r\n\r\n`],
  ['no chunk size', `${CHUNKED}\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size that no counter holds', `${CHUNKED}FFFFFFFFFFFFFFFFF\r\n{}`],
  ['a chunk that is longer than its size', `${CHUNKED}2\r\n{}}\r\n0\r\n\r\n`],
  ['a bare line feed after a chunk size', `${CHUNKED}2\n{}\r\n0\r\n\r\n${smuggled}`],
  ['a bare line feed after a chunk', `${CHUNKED}2\r\n{}\n0\r\n\r\n${smuggled}`],
  ['a bare line feed in a chunk extension', `${CHUNKED}2;a\nb\r\n{}\r\n0\r\n\r\n${smuggled}`],
  ['a chunk extension of 17,000 bytes', `${CHUNKED}2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`],
  ['a length among the trailers', `${CHUNKED}2\r\n{}\r\n0\r\n${LENGTH}\r\n${smuggled}`],
  [
    'a transfer coding after chunked',
    `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['a transfer coding before chunked', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  [
    'a transfer coding that is like chunked',
    `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['chunked in quotes', `${HEAD}Transfer-Encoding: "chunked"\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  [
    'chunked twice',
    `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['identity as a transfer coding', `${HEAD}Transfer-Encoding: identity\r\n\r\n${smuggled}`],
  ['chunks in HTTP/1.0', `${CHUNKED.replace('1.1', '1.0')}2\r\n{}\r\n0\r\n\r\n`],
  ['no Host', `POST ${TARGET} HTTP/1.1\r\nContent-Type: application/json\r\n${LENGTH}\r\n{}`],
  ['two hosts', `${HEAD}Host: y\r\n${LENGTH}\r\n{}`],
  ['HTTP/0.9', `GET ${TARGET}\r\n\r\n`],
  ['HTTP/1.2', over('HTTP/1.2')],
  ['HTTP/1.10', over('HTTP/1.10')],
  ['HTTP/2 in the words of HTTP/1', over('HTTP/2.0')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method in lower case', `${HEAD.replace('POST', 'post')}${LENGTH}\r\n{}`],
  ['a method that nobody knows', `${HEAD.replace('POST', 'FETCH')}${LENGTH}\r\n{}`],
  ['a method without end', 'X'.repeat(20_000)],
  ['a tunnel', `CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`],
  ['a space in the address', `POST ${TARGET} x HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['tabs in the first line', `POST\t${TARGET}\tHTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n{}`],
  ['an address that is no path', 'POST webhook HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an address with other bytes than ASCII', `POST ${TARGET}\u00ff HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
];

test.each(MALFORMED)('%s gets one 400, and the connection ends', async (_what, bytes) => {
  const text = await exchange(bytes);
  expect(statuses(text)).toEqual([400]);
  expect(text).toContain('problem/bad-request');
  expect(text).not.toContain('smuggled');
});

const CLOSE = 'Connection: close\r\n';

/** What is odd and not wrong, or wrong in a way that has a status of its own. */
test.each<[what: string, answers: number[], bytes: string]>([
  ['a header block beyond 16 KiB', [431], `${HEAD}X-Long: ${'x'.repeat(17_000)}\r\n${LENGTH}\r\n{}`],
  ['trailers beyond 16 KiB', [431], `${CHUNKED}2\r\n{}\r\n0\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['an address beyond 16 KiB', [431], `POST ${TARGET}?${'x'.repeat(17_000)} HTTP/1.1\r\n`],
  [
    'an address beyond 8,192 characters',
    [414],
    `POST ${TARGET}?${'x'.repeat(8_192)} HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
  ],
  ['another expectation than to go on', [417], `${HEAD}${CLOSE}Expect: 200-ok\r\n${LENGTH}\r\n{}`],
  ['another method', [405], `${HEAD.replace('POST', 'QUERY')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'an address with another host and another path',
    [404],
    `GET http://y/secret HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`,
  ],
  ['an address with another scheme', [404], `GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['the address of the server itself', [404], `OPTIONS * HTTP/1.1\r\nHost: x\r\n${CLOSE}\r\n`],
  ['dots in the path', [404], `${HEAD.replace('/webhook', '/webhook/../webhook')}${CLOSE}${LENGTH}\r\n{}`],
  ['two slashes', [404], `${HEAD.replace('/webhook', '//webhook')}${CLOSE}${LENGTH}\r\n{}`],
  ['a fragment', [404], `${HEAD.replace('/new', '/new#x')}${CLOSE}${LENGTH}\r\n{}`],
  [
    'a length above the limit, and a request for the body',
    [413],
    `${HEAD}Content-Length: 1048577\r\n\r\n${smuggled}`,
  ],
  ['a length with white space around', [400], `${HEAD}${CLOSE}Content-Length: \t2 \r\n\r\n{]`],
  ['a length with leading zeros', [400], `${HEAD}${CLOSE}Content-Length: 002\r\n\r\n{]`],
])('%s: %j', async (_what, answers, bytes) => {
  const text = await exchange(bytes);
  expect(statuses(text)).toEqual(answers);
  expect(text).not.toContain('smuggled');
});

/** How many calls of webhooks were answered with 200. */
async function accepted(): Promise<number> {
  const metrics = await (await fetch(door.gateway.metricsURL)).text();
  return Number(/route="webhook",status="200"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

test('none of all that started a run', async () => {
  expect(await readSummaries(door.runs, PROJECT, workflowUid('orders'), 10)).toEqual([]);
  expect(await accepted()).toBe(0);
});

/** What senders of all kinds and ages may send. */
test.each<[what: string, bytes: string]>([
  ['chunks', `${HEAD}${CLOSE}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`],
  [
    'chunks with extensions and trailers',
    `${HEAD}${CLOSE}Transfer-Encoding: Chunked\r\n\r\n2;a=b;c\r\n{}\r\n0\r\nX-T: y\r\n\r\n`,
  ],
  ['HTTP/1.0 without a host', `POST ${TARGET} HTTP/1.0\r\nContent-Type: application/json\r\n${LENGTH}\r\n{}`],
  ['HTTP/1.0 that expects to go on', over('HTTP/1.0').replace('\r\n', '\r\nExpect: 100-continue\r\n')],
  ['an address with a host', `${HEAD.replace(TARGET, `http://y${TARGET}`)}${CLOSE}${LENGTH}\r\n{}`],
  ['an empty line before', `\r\n${HEAD}${CLOSE}${LENGTH}\r\n{}`],
  ['other bytes than ASCII in a header', `${HEAD}X-A: \u00e9\u00ff\r\n${CLOSE}${LENGTH}\r\n{}`],
  [
    'an offer to change to WebSocket',
    `${HEAD}Upgrade: websocket\r\nConnection: Upgrade, close\r\n${LENGTH}\r\n{}`,
  ],
  ['three thousand headers', `${HEAD}${'a:\r\n'.repeat(3_000)}${CLOSE}${LENGTH}\r\n{}`],
])('%s is an event', async (_what, bytes) => {
  expect(statuses(await exchange(bytes))).toEqual([200]);
});

test('a header counts wherever it stands among thousands', async () => {
  const send = (key: string, body: string) =>
    exchange(`${HEAD}${'a:\r\n'.repeat(3_000)}Idempotency-Key: ${key}\r\n${CLOSE}${LENGTH}\r\n${body}`);
  expect(statuses(await send('late', '{}'))).toEqual([200]);
  expect(statuses(await send('late', '[]'))).toEqual([422]);
});

test('what follows a request that ends the connection is neither read nor answered', async () => {
  const events = await accepted();
  const one = `${HEAD}${LENGTH}\r\n{}`;
  const text = await exchange(`${HEAD}${CLOSE}${LENGTH}\r\n{}${one}${one}`);
  expect(statuses(text)).toEqual([200]);
  expect(await accepted()).toBe(events + 1);
});

test('what was accepted is told so, whatever comes after it on the connection', async () => {
  const events = await accepted();
  const one = `${HEAD}${LENGTH}\r\n{}`;
  expect(statuses(await exchange(`${one}\0${smuggled}`))).toEqual([200]);
  expect(statuses(await exchange(`${one}${one}${CHUNKED}xx\r\n`))).toEqual([200, 200]);
  expect(await accepted()).toBe(events + 3);
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

test('silence and headers that do not end are given up after 5 s, bodies after 10 s', async () => {
  const [silence, headers, body] = await Promise.all([
    exchange('', { timeoutMs: 9_000 }),
    exchange(`${HEAD}X-Slow: `, { timeoutMs: 9_000 }),
    exchange(`${HEAD}Content-Length: 10\r\n\r\n{`, { timeoutMs: 14_000 }),
  ]);
  expect(statuses(silence)).toEqual([408]);
  expect(statuses(headers)).toEqual([408]);
  expect(statuses(body)).toEqual([408]);
});

test('nothing of all this was unexpected, and nothing of it is held', async () => {
  const metrics = await (await fetch(door.gateway.metricsURL)).text();
  expect(metrics).not.toMatch(/status="5\d\d"/);
  expect(metrics).toMatch(/^windlass_gateway_in_flight_bytes 0$/m);
  expect(metrics).toMatch(/^windlass_gateway_refused_total\{reason="malformed"\} [1-9]/m);
  expect(door.gateway.log.filter((line) => line.includes('unexpectedly'))).toEqual([]);
});
