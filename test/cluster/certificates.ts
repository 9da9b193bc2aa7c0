/** Makes certificates and keys as files, with the program that is built for it. */
import { join } from 'node:path';
import { runCommand } from '../support/process/command.ts';

type CertificateRequest = {
  /** Of the files, NAME.crt and NAME.key. */
  name: string;
  /** The name of one that comes before it in the list; without it this is an authority. */
  issuer?: string;
  commonName: string;
  /** The groups of a user. */
  organizations?: string[];
  /** Names and addresses of a server. */
  hosts?: string[];
};

export type CertificateRequests = { certificates: CertificateRequest[]; signingKeys: string[] };

/**
 * Writes the certificates (ECDSA, ten years) and signing keys (RSA, NAME.key and NAME.pub) into the folder.
 */
export async function certify(binDir: string, folder: string, requests: CertificateRequests): Promise<void> {
  await runCommand(join(binDir, 'cluster-node'), ['certify', folder], { input: JSON.stringify(requests) });
}
