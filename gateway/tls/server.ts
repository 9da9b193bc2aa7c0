/** HTTPS servers, and the link between their accepted and their secured sockets. */
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as TLSServer, type TLSSocket } from 'node:tls';
import type { ServerCertificate } from '../../kube/certificateFiles.ts';

/** Explicit, because NODE_OPTIONS can lower Node's default. */
const PROTOCOL = { minVersion: 'TLSv1.2' } as const;

type ServerSettings = {
  http: ServerOptions & { headersTimeout: number };
  requestTimeout: number;
  keepAliveTimeout: number;
  connectionTimeout: number;
};

/** Creates the server. The handshake may take as long as the headers of a request. */
export function createTLSServer(
  handler: RequestListener,
  { http, requestTimeout, keepAliveTimeout, connectionTimeout }: ServerSettings,
  certificate: ServerCertificate,
): Server {
  const timeouts = { requestTimeout, keepAliveTimeout, handshakeTimeout: http.headersTimeout };
  const server = createServer({ ...http, ...timeouts, ...certificate, ...PROTOCOL }, handler);
  server.setTimeout(connectionTimeout);
  return server;
}

/**
 * Uses another certificate for new connections; open ones continue. Throws, without a change, if it is
 * invalid.
 */
export function showCertificate(server: Server, certificate: ServerCertificate): void {
  if (isTLSServer(server)) server.setSecureContext({ ...certificate, ...PROTOCOL });
}

export function isTLSServer(server: object): server is SecureServer {
  return server instanceof TLSServer;
}

/**
 * Calls `onHandshake` for each finished handshake with the accepted socket and the secured socket. Never
 * called for a server without TLS.
 */
export function watchHandshakes(
  server: object,
  onHandshake: (accepted: Socket, secure: TLSSocket) => void,
): void {
  if (!isTLSServer(server)) return;
  const waiting = new Map<string, Socket>();
  server.on('connection', (accepted: Socket) => {
    const peer = peerOf(accepted);
    waiting.set(peer, accepted);
    accepted.once('close', () => {
      if (waiting.get(peer) === accepted) waiting.delete(peer);
    });
  });
  server.on('secureConnection', (secure: TLSSocket) => {
    const peer = peerOf(secure);
    const accepted = waiting.get(peer);
    waiting.delete(peer);
    // Closed or refused during the handshake.
    if (accepted === undefined || accepted.destroyed) secure.destroy();
    else onHandshake(accepted, secure);
  });
}

/** Identifies an open connection of a listener. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
