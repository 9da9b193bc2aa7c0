/**
 * Runs beside the chart's own Redis when that has TLS: has it load its certificate anew when the mounted files change.
 * Arguments: the folder of the certificate, and the folder that the containers of the pod share.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import {
  createCertificateReload,
  expiryOfReplacement,
  readCertificateFiles,
  repeatReload,
} from '../kube/certificateFiles.ts';
import { LINE_FORMAT } from '../kube/log.ts';
import { CERTIFICATE_ACCOUNT } from '../runs/accounts.ts';
import { connectRunStore } from '../runs/connection.ts';
import { loadServerCertificate } from '../runs/serverCertificate.ts';
import { CERTIFICATE_PASSWORD_FILE, SOCKET_FILE } from './store/sharedFiles.ts';

const [folder, podFolder] = process.argv.slice(2);
if (folder === undefined || podFolder === undefined)
  throw new Error('Usage: run-store-certificate <folder of the certificate> <folder of the pod>');

const log = pino({ ...LINE_FORMAT, base: { program: 'run-store-certificate' } });
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort());

const conn = connectRunStore({
  url: join(podFolder, SOCKET_FILE),
  username: CERTIFICATE_ACCOUNT,
  password: await readFile(join(podFolder, CERTIFICATE_PASSWORD_FILE), 'utf8'),
  name: CERTIFICATE_ACCOUNT,
  log,
});
const reload = createCertificateReload({
  read: () => readCertificateFiles(folder),
  use: async (certificate) => {
    const expires = expiryOfReplacement(certificate);
    return (await loadServerCertificate(conn, folder)) === 'loaded' ? expires : undefined;
  },
  log,
});
await repeatReload(reload, { signal: stopping.signal });
await conn.close();
