/**
 * A TCP proxy that can break off, swallow or delay what passes through it: for tests of what a lost
 * connection does.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export type TcpProxy = {
  port: number;
  /** Ends all connections at once; new ones are let through. */
  drop(): void;
  /**
   * From now on nothing passes any more, or no answers, without any connection being closed, also of those
   * that are made meanwhile; false lets new ones through.
   */
  swallow(on: boolean | 'answers'): void;
  /**
   * Holds up what clients send on the connections that are there, also when a client has closed its own
   * since; new connections are let through. The function it returns delivers it all.
   */
  hold(): () => void;
  close(): Promise<void>;
};

/** Passes on to `port` of this machine. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let swallowing: boolean | 'answers' = false;
  const upstreams = new Map<Socket, { delayed?: Buffer[] }>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const pass = (from: Socket, to: Socket, isAnswer: boolean) => {
      sockets.add(from);
      from.on('data', (data) => {
        const delayed = upstreams.get(to)?.delayed;
        if (delayed) delayed.push(data);
        else if (!swallowing || (swallowing === 'answers' && !isAnswer)) to.write(data);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        if (!upstreams.get(to)?.delayed) to.destroy();
      });
    };
    upstreams.set(upstream, {});
    upstream.on('close', () => upstreams.delete(upstream));
    pass(client, upstream, false);
    pass(upstream, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    drop,
    swallow: (on) => {
      swallowing = on;
    },
    hold: () => {
      const holding = [...upstreams];
      for (const [, state] of holding) state.delayed = [];
      return () => {
        for (const [upstream, state] of holding) {
          state.delayed?.forEach((data) => upstream.write(data));
          delete state.delayed;
        }
      };
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      drop();
      await closed;
    },
  };
}
