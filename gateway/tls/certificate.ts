/** The certificate of a listener: read at the start, and replaced while connections are open when its files change. */
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
  /** When the certificate expires that new connections are shown. */
  expires: () => Date;
  /** Follows the files until the signal is aborted, for the server that shows them. */
  follow: (server: Server, options: FollowOptions) => Promise<void>;
};

type FollowOptions = { log: Log; signal: AbortSignal; clock?: Clock };

/** Reads the certificate in a folder; undefined without one. Throws an Error that names the folder when it cannot be used. */
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
    throw new Error(`The TLS certificate in ${folder} cannot be used: ${message}`, { cause });
  }
}
