/** A sentinel that names whatever port a test says, also one at which no server can be. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readCommand } from './redisProxy.ts';

type FakeSentinel = { port: number; stop(): Promise<void> };

/** Starts it. `portOfPrimary` is asked for each question; the host is always 127.0.0.1. */
export async function startFakeSentinel(portOfPrimary: () => number): Promise<FakeSentinel> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    let rest = Buffer.alloc(0);
    client.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let read = readCommand(rest); read; read = readCommand(rest)) {
        const isQuestion = read.command[0]?.toLowerCase() === 'sentinel';
        client.write(isQuestion ? `*2\r\n$9\r\n127.0.0.1\r\n+${portOfPrimary()}\r\n` : '+OK\r\n');
        rest = rest.subarray(read.length);
      }
    });
    client.on('error', () => client.destroy());
    client.on('close', () => sockets.delete(client));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
