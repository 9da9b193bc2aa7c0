/** The server of a listener with TLS, and how its connections come about: what is accepted becomes HTTP after a handshake. */
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

/** Creates the server. A client has as long for the handshake as for the headers of a request. */
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

/** Shows new connections another certificate; open ones go on. Throws, and changes nothing, when it is no good. */
export function showCertificate(server: Server, certificate: ServerCertificate): void {
  if (isTLSServer(server)) server.setSecureContext({ ...certificate, ...PROTOCOL });
}

/** Whether what the server accepts begins with a handshake. */
export function isTLSServer(server: object): server is SecureServer {
  return server instanceof TLSServer;
}

/**
 * Calls `onHandshake` for each finished handshake with the socket that was accepted and the one that HTTP is spoken on. Never
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
    // Gone, or refused, during the handshake.
    if (accepted === undefined || accepted.destroyed) secure.destroy();
    else onHandshake(accepted, secure);
  });
}

/** Names a connection: no two open ones of a listener have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
