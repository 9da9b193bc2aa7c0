/** A TCP proxy that counts what servers send, and can end a connection after so many bytes of it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Meter = {
  port: number;
  /** Bytes that the server has sent since the last call. */
  taken(): number;
  /** From now on each connection ends after so many bytes from the server. */
  endAfter(bytes: number): void;
  close(): Promise<void>;
};

/** Passes on to `port` of this machine. */
export async function startMeter(port: number): Promise<Meter> {
  const sockets = new Set<Socket>();
  let [taken, most] = [0, Number.POSITIVE_INFINITY];
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let passed = 0;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    upstream.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      passed += chunk.length;
      if (passed > most) end();
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => {
      const bytes = taken;
      taken = 0;
      return bytes;
    },
    endAfter: (bytes) => {
      most = bytes;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
