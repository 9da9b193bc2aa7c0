/**
 * A name server (RFC 1035) for tests, which answers each question for a name with the next of its answers. It
 * knows A records alone.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import type { HostAddress } from '../../../nodes/egress/egress.ts';

export type NameServer = {
  /** The addresses that the questions for a name get, one list after the other; the last one stays. */
  answers: Map<string, string[][]>;
  /** How often each name was asked for. */
  asked: Map<string, number>;
  /** Asks this server, and keeps nothing. */
  lookup: (host: string) => Promise<HostAddress[]>;
  close(): void;
};

const HEADER_BYTES = 12;

export async function startNameServer(): Promise<NameServer> {
  const answers: NameServer['answers'] = new Map();
  const asked: NameServer['asked'] = new Map();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = questionOf(query);
    asked.set(name, (asked.get(name) ?? 0) + 1);
    const left = answers.get(name) ?? [];
    const [addresses = []] = left.length > 1 ? left.splice(0, 1) : left;
    socket.send(answerTo(query.subarray(0, end), addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    answers,
    asked,
    lookup: async (host) => (await resolver.resolve4(host)).map((address) => ({ address, family: 4 })),
    close: () => void socket.close(),
  };
}

/** The name that is asked for, and where the question ends. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** The question with its answers; a name without any does not exist. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const header = Buffer.from(question);
  header.writeUInt16BE(addresses.length > 0 ? 0x81_80 : 0x81_83, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  // The name by its place in the question, type A, class IN, no time to live, four bytes.
  const start = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([
    header,
    ...addresses.flatMap((address) => [start, Buffer.from(address.split('.').map(Number))]),
  ]);
}
