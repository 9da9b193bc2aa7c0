/**
 * Reloads the certificate and key of a server from a mounted Secret. Whatever new files contain, the server
 * keeps a working certificate.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep, systemClock, type Clock } from './clock.ts';
import type { Log } from './log.ts';

/** PEM. */
export type ServerCertificate = { cert: string; key: string };

/**
 * Reads `tls.crt` and `tls.key`, the keys of a Secret of type `kubernetes.io/tls`, of one version of the
 * Secret: the kubelet replaces all files at once by a symbolic link. Throws when a file is missing.
 */
export function readCertificateFiles(folder: string): Promise<ServerCertificate> {
  // The version that was found may be gone when its second file is read. The one after it stays for longer.
  return readVersion(folder).catch(() => readVersion(folder));
}

async function readVersion(folder: string): Promise<ServerCertificate> {
  const version = dirname(await realpath(join(folder, 'tls.crt')));
  const [cert, key] = await Promise.all(
    ['tls.crt', 'tls.key'].map((name) => readFile(join(version, name), 'utf8')),
  );
  return { cert: cert ?? '', key: key ?? '' };
}

/**
 * When the certificate expires. Throws an Error when it or the key cannot be read, or the key is that of
 * another certificate.
 */
export function expiryOf({ cert, key }: ServerCertificate): Date {
  const certificate = new X509Certificate(cert);
  if (!certificate.checkPrivateKey(createPrivateKey(key)))
    throw new Error('tls.key is not the key of the certificate in tls.crt');
  return new Date(certificate.validTo);
}

/**
 * When a certificate expires that replaces another one. Throws an Error as `expiryOf` does, and when clients
 * would refuse it at that time: the one before may be good for longer.
 */
export function expiryOfReplacement(certificate: ServerCertificate, now = new Date()): Date {
  const expires = expiryOf(certificate);
  const begins = new Date(new X509Certificate(certificate.cert).validFrom);
  if (expires <= now) throw new Error(`the certificate in tls.crt expired at ${expires.toISOString()}`);
  if (begins > now) throw new Error(`the certificate in tls.crt is valid from ${begins.toISOString()} only`);
  return expires;
}

export type CertificateReload = {
  read: () => Promise<ServerCertificate>;
  /**
   * Puts a certificate into effect and returns when it expires. Throws if it is invalid; returns undefined if
   * it cannot be checked now.
   */
  use: (certificate: ServerCertificate) => Date | undefined | Promise<Date | undefined>;
  log: Log;
};

/**
 * Returns a function that reads the files and puts them into effect if they have changed. A refused
 * certificate is logged once, retried each time, and leaves the last one in effect.
 */
export function createCertificateReload(
  { read, use, log }: CertificateReload,
  inEffect?: ServerCertificate,
): () => Promise<void> {
  let used = inEffect && textOf(inEffect);
  let refused = '';
  return async () => {
    try {
      const found = await read();
      const text = textOf(found);
      if (text !== used) {
        const expires = await use(found);
        if (expires === undefined) return;
        log.info({ expires }, 'reloaded the TLS certificate');
      }
      used = text;
      refused = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== refused) log.error({ error: message }, 'refused the new TLS certificate');
      refused = message;
    }
  };
}

function textOf({ cert, key }: ServerCertificate): string {
  return `${cert}\n${key}`;
}

/** The time between two reads. The kubelet takes up to a minute to replace files. */
const RELOAD_MS = 5_000;

/** Calls the function every five seconds until the signal is aborted. */
export async function repeatReload(
  reload: () => Promise<void>,
  { signal, clock = systemClock }: { signal: AbortSignal; clock?: Clock },
): Promise<void> {
  while (!signal.aborted) {
    await sleep(RELOAD_MS, signal, clock);
    if (!signal.aborted) await reload();
  }
}
