/**
 * The link of the storm: what its troubles do to the two ends, and that nothing is lost or reordered when
 * they end.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startLink, type Link } from '../../faults/storm/link.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000, everyMs: 5 };

let link: Link;
let heard: string;
let clients: Socket[];
let close: () => void;
beforeEach(async () => {
  heard = '';
  clients = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      heard += data.toString();
      socket.write(`<${data.toString()}>`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  link = await startLink((server.address() as AddressInfo).port);
  close = () => void server.close();
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await link.close();
  close();
});

async function open(): Promise<{ socket: Socket; answers: () => string }> {
  const socket = connect(link.port, '127.0.0.1');
  clients.push(socket);
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, answers: () => answers };
}

async function openAndAsk(): Promise<Awaited<ReturnType<typeof open>>> {
  const client = await open();
  client.socket.write('a');
  await pollUntil('the first answer', () => client.answers() === '<a>', SOON);
  return client;
}

test('deaf: requests arrive, answers come when it is over', async () => {
  const { socket, answers } = await openAndAsk();
  const end = link.begin('deaf');
  socket.write('b');
  await pollUntil('the request', () => heard === 'ab', SOON);
  expect(answers()).toBe('<a>');
  await end();
  await pollUntil('the answer', () => answers() === '<a><b>', SOON);
});

test('silent: what was sent arrives when it is over, also from a client that has gone', async () => {
  const { socket } = await openAndAsk();
  const end = link.begin('silent');
  socket.write('b');
  await pollUntil(
    'the bytes having left',
    () => socket.bytesWritten === 2 && socket.writableLength === 0,
    SOON,
  );
  socket.end();
  const other = await open();
  other.socket.write('c');
  await end();
  await pollUntil('both', () => heard.length === 3, SOON);
  expect(['abc', 'acb']).toContain(heard);
});

test('refused: connections are reset and refused until it is over', async () => {
  const { socket } = await openAndAsk();
  const reset = new Promise((resolve) => socket.once('close', resolve));
  const end = link.begin('refused');
  await reset;
  const refused = connect(link.port, '127.0.0.1');
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
  await end();
  await openAndAsk();
});

test('late: everything arrives, in order on each connection', async () => {
  const { socket, answers } = await openAndAsk();
  const end = link.begin('late', 30);
  const letters = 'b c d e f g h i j'.split(' ');
  for (const letter of letters) {
    socket.write(letter);
    await pollUntil('the letter', () => heard.endsWith(letter), SOON);
  }
  await end();
  const all = ['a', ...letters].map((letter) => `<${letter}>`).join('');
  await pollUntil('all answers', () => answers().length === all.length, SOON);
  expect(answers()).toBe(all);
});
