/** Certificates of servers and their authorities, for tests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBinaries } from '../../cluster/build.ts';
import { certify } from '../../cluster/certificates.ts';
import { makeFolder } from '../process/folder.ts';
import { createProgress } from '../process/progress.ts';

/** What cert-manager writes into a Secret. */
export type SecretFiles = { 'tls.crt': string; 'tls.key': string; 'ca.crt': string };

/** For each name a certificate of a server at these hosts, and an authority of its own. */
export async function makeCertificates<Name extends string>(
  names: readonly Name[],
  hosts: string[],
): Promise<Record<Name, SecretFiles>> {
  const binDir = await ensureBinaries(createProgress(process.stderr));
  const folder = await makeFolder('certificates');
  try {
    const certificates = names.flatMap((name) => [
      { name: `${name}-ca`, commonName: `authority ${name}` },
      { name, issuer: `${name}-ca`, commonName: name, hosts },
    ]);
    await certify(binDir, folder.path, { certificates, signingKeys: [] });
    const read = (file: string) => readFile(join(folder.path, file), 'utf8');
    const made = names.map(async (name) => [
      name,
      {
        'tls.crt': await read(`${name}.crt`),
        'tls.key': await read(`${name}.key`),
        'ca.crt': await read(`${name}-ca.crt`),
      },
    ]);
    return Object.fromEntries(await Promise.all(made)) as Record<Name, SecretFiles>;
  } finally {
    folder.remove();
  }
}
