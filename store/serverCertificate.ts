/** The expiry of the run store server's certificate. */
import { isIP } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import type { RunStoreOptions } from './redis.ts';
import { trustIn } from './trust.ts';

const HANDSHAKE_MS = 2_000;

/**
 * The expiry of the certificate that a new connection gets. Undefined without TLS, or when no handshake
 * succeeds.
 */
export function servedCertificateExpiry({
  url,
  caFile,
}: Pick<RunStoreOptions, 'url' | 'caFile'>): Promise<Date | undefined> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'rediss:') return Promise.resolve(undefined);
  const host = hostname.replace(/^\[|\]$/g, '');
  return handshake({ host, port: Number(port || 6379), ...trustIn(caFile) });
}

function handshake(options: ConnectionOptions): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const { host = '' } = options;
    const socket = connect({ ...options, ...(isIP(host) === 0 && { servername: host }) });
    const end = (expiry?: Date) => {
      clearTimeout(overdue);
      socket.destroy();
      resolve(expiry);
    };
    const overdue = setTimeout(end, HANDSHAKE_MS);
    socket.once('error', () => end());
    socket.once('secureConnect', () => end(new Date(socket.getPeerCertificate().valid_to)));
  });
}
