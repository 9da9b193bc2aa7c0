/** How the Redis client connects to the primary that the sentinels name, whenever it opens a connection. */
import { AbstractConnector } from 'ioredis';
import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ServerAddress } from '../api/runStoreURL.ts';
import type { Located } from './sentinel.ts';
import type { Trust } from './trust.ts';

/** The library's own limit for a connection to end by itself. */
const DISCONNECT_MS = 2_000;

/**
 * The class that the client makes its connector of. Where no primary is found, the client gets a connection
 * that is closed already: it would never try again if there was none. `onLocated` gets each server that is
 * connected to.
 */
export function sentinelConnector(
  locate: () => Promise<Located>,
  onLocated: (address: ServerAddress) => void,
  tls?: Trust,
): new () => AbstractConnector {
  return class extends AbstractConnector {
    constructor() {
      super(DISCONNECT_MS);
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      const located = await locate();
      if ('problem' in located || !this.connecting) return closedSocket();
      const { primary } = located;
      onLocated(primary);
      const stream = tls ? connectTls({ ...primary, ...tls }) : connectTcp(primary);
      this.stream = stream;
      return stream;
    }
  };
}

function closedSocket(): Socket {
  return new Socket().destroy();
}
