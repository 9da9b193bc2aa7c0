/** The certificate of the run store's server: has the server load it anew, and finds out when the one that it shows expires. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { orUnavailable, type RunStoreConnection, type RunStoreOptions } from './connection.ts';
import { trustIn } from './trust.ts';
import type { Unavailable } from './types.ts';

/**
 * Has the server read `tls.crt` and `tls.key` of the folder, which is one of its own, for connections from now on; open ones go
 * on. Throws, and leaves it with the certificate that it has, when it refuses. It takes an account that may do that.
 */
export function loadServerCertificate(
  conn: RunStoreConnection,
  folder: string,
): Promise<'loaded' | Unavailable> {
  const files = ['tls-cert-file', join(folder, 'tls.crt'), 'tls-key-file', join(folder, 'tls.key')];
  return orUnavailable(async () => {
    // All in one call: a certificate without its key would be refused. The same names as before make it read them again.
    await conn.command('config', 'set', ...files);
    return 'loaded' as const;
  });
}

const HANDSHAKE_MS = 2_000;

/** When the certificate expires that a new connection is shown. Undefined without TLS, or when no handshake succeeds. */
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
