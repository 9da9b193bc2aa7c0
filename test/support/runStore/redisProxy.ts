/**
 * A proxy to a Redis server that lets a command through only if it is told so; others are answered as by a
 * server that is loading.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type RedisProxy = { url: string; stop(): Promise<void> };

/** Sent in the place of what may not pass, so that each command still has its answer, in order. */
const REFUSAL = encodeCommand(['EVAL', "return redis.error_reply('LOADING cut off')", '0']);

/** Starts it. `passes` is asked for every command, in the order in which they come. */
export async function startRedisProxy(
  port: number,
  passes: (command: string[]) => boolean,
): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let rest = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let read = readCommand(rest); read; read = readCommand(rest)) {
        upstream.write(passes(read.command) ? rest.subarray(0, read.length) : REFUSAL);
        rest = rest.subarray(read.length);
      }
    });
    upstream.pipe(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * The first command of what came, if all of it has come: an array of strings, as every client sends (RESP,
 * "Client handshake").
 */
export function readCommand(bytes: Buffer): { command: string[]; length: number } | undefined {
  const command: string[] = [];
  let at = 0;
  const readNumber = (): number | undefined => {
    const end = bytes.indexOf('\r\n', at);
    if (end === -1) return undefined;
    const value = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return value;
  };
  const count = readNumber();
  if (count === undefined) return undefined;
  while (command.length < count) {
    const length = readNumber();
    if (length === undefined || bytes.length < at + length + 2) return undefined;
    command.push(bytes.toString('utf8', at, at + length));
    at += length + 2;
  }
  return { command, length: at };
}

/** A command as clients send it. */
export function encodeCommand(command: readonly string[]): Buffer {
  const parts = command.map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`);
  return Buffer.from(`*${command.length}\r\n${parts.join('')}`);
}
