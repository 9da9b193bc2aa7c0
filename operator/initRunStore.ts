/**
 * Writes the list of accounts that Redis loads at its start: the operator's and the gateway's with the passwords of the
 * mounted Secret, and the accounts of projects as the list on the volume has them. With TLS also that of the program beside Redis
 * that follows its certificate, whose password is made anew and put where only the pod's containers reach it.
 * Arguments: the list's path, the folder with the passwords, and with TLS the folder for that password.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aclFile } from '../runs/accounts.ts';
import { CERTIFICATE_PASSWORD_FILE } from './store/sharedFiles.ts';
import { GATEWAY_PASSWORD, OPERATOR_PASSWORD } from './store/secret.ts';

const [list, folder, podFolder] = process.argv.slice(2);
if (list === undefined || folder === undefined)
  throw new Error('Usage: init-run-store <list of accounts> <folder of passwords> [<folder of the pod>]');

const sha256 = (password: string | Buffer): string => createHash('sha256').update(password).digest('hex');
const sha256Of = async (key: string): Promise<string> => sha256(await readFile(join(folder, key)));

async function makeCertificatePassword(file: string): Promise<string> {
  const password = randomBytes(32).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return sha256(password);
}

const passwords = {
  operatorPasswordSha256: await sha256Of(OPERATOR_PASSWORD),
  gatewayPasswordSha256: await sha256Of(GATEWAY_PASSWORD),
  ...(podFolder !== undefined && {
    certificatePasswordSha256: await makeCertificatePassword(join(podFolder, CERTIFICATE_PASSWORD_FILE)),
  }),
};
const existing = await readFile(list, 'utf8').catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
});
// Renamed into place, so that a list is whole however this ends.
const next = `${list}.next`;
await writeFile(next, aclFile(passwords, existing), { mode: 0o600 });
await rename(next, list);
