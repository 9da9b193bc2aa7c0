/**
 * The authorities that a TLS connection to the run store trusts: those of a file that may be replaced at any
 * time.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Log } from '../kube/log.ts';
import { createLogLimit } from './logLimit.ts';

/** Options of a TLS connection. The client library reads them for each connection. */
export type Trust = { readonly secureContext: SecureContext };

const PROTOCOL = { minVersion: 'TLSv1.2' } as const;

/**
 * Trusts the authorities in the file as it is when a connection is opened; without a file, public ones. While
 * the file is unusable, the authorities before stay trusted, and none at first.
 */
export function trustIn(caFile: string | undefined, log?: Log): Trust {
  if (caFile === undefined) return { secureContext: createSecureContext(PROTOCOL) };
  let read = '';
  let reported = '';
  let context = createSecureContext({ ca: [], ...PROTOCOL });
  return {
    get secureContext() {
      try {
        const ca = readFileSync(caFile, 'utf8');
        if (ca !== read) context = createSecureContext({ ca: parseAuthorities(ca), ...PROTOCOL });
        read = ca;
        reported = '';
      } catch (error) {
        const { message } = error as Error;
        if (message !== reported)
          log?.error({ caFile, error: message }, 'run store: unusable authority file');
        reported = message;
      }
      return context;
    },
  };
}

/**
 * Parses certificates in PEM form. Throws where one is broken or there is none: Node would ignore it
 * silently.
 */
export function parseAuthorities(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const begun = pem.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (begun === 0) throw new Error('the file has no certificate in PEM form');
  if (found.length < begun) throw new Error('the file has a certificate without an end');
  return found.map((certificate) => new X509Certificate(certificate).toString());
}

/** Node's error codes for a certificate that is not trusted (X509 errors of OpenSSL, and its own). */
const DISTRUST =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/;

/** Whether a connection failed because the certificate of the server is not trusted. */
export function isDistrust(error: Error): boolean {
  return DISTRUST.test((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Logs, once a minute although the client retries each second, that the server's certificate was refused,
 * why, and what to check. Ignores other errors.
 */
export function createTrustReport(caFile: string | undefined, log: Log | undefined): (error: Error) => void {
  const mayLog = createLogLimit();
  return (error) => {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!isDistrust(error) || !mayLog()) return;
    const fields = { code, error: message, caFile };
    log?.error(fields, 'run store: refused its certificate; see docs/security.md#tls');
  };
}
