/** The certificate of a listener: read at start, and reloaded when its files change. */
import type { Server } from 'node:http';
import type { Clock } from '../../kube/clock.ts';
import {
  createCertificateReload,
  expiryOf,
  expiryOfReplacement,
  readCertificateFiles,
  repeatReload,
  type ServerCertificate,
} from '../../kube/certificateFiles.ts';
import type { Log } from '../../kube/log.ts';
import { showCertificate } from './server.ts';

export type ListenerCertificate = {
  certificate: ServerCertificate;
  /** When the certificate of new connections expires. */
  expires: () => Date;
  /** Reloads the server's certificate until the signal is aborted. */
  follow: (server: Server, options: FollowOptions) => Promise<void>;
};

type FollowOptions = { log: Log; signal: AbortSignal; clock?: Clock };

/**
 * Reads the certificate in a folder; undefined without a folder. Throws an Error that names the folder if it
 * is invalid.
 */
export async function openListenerCertificate(
  folder: string | undefined,
): Promise<ListenerCertificate | undefined> {
  if (folder === undefined) return undefined;
  const read = (): Promise<ServerCertificate> => readCertificateFiles(folder);
  try {
    const certificate = await read();
    let expires = expiryOf(certificate);
    return {
      certificate,
      expires: () => expires,
      follow: (server, { log, ...options }) => {
        const use = (next: ServerCertificate): Date => {
          const end = expiryOfReplacement(next);
          showCertificate(server, next);
          expires = end;
          return end;
        };
        return repeatReload(createCertificateReload({ read, use, log }, certificate), options);
      },
    };
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`Invalid TLS certificate in ${folder}: ${message}`, { cause });
  }
}
