/** What to do about a connection that fails, as far as its error shows. Pure. */
import { isDistrust } from '../trust.ts';

/** A server without TLS does not answer a handshake, and one with TLS ends a connection without one. */
const TLS_MISMATCH = /ECONNRESET|ETIMEDOUT|EPROTO/;

/** A sentence to append to the error; empty if there is nothing to suggest. */
export function connectionHint(
  error: Error,
  { side, isTLS }: { side: 'source' | 'target'; isTLS: boolean },
): string {
  const option = side === 'source' ? '--from-ca' : '--to-ca';
  if (isDistrust(error))
    return `. Check its certificate, and the authorities of ${option} (docs/security.md#tls)`;
  if (!TLS_MISMATCH.test(error.message)) return '';
  return isTLS
    ? `. If the ${side} does not use TLS, use redis in its URL instead of rediss`
    : `. If the ${side} requires TLS, use rediss in its URL instead of redis`;
}
