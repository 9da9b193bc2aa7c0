/**
 * Writes the list of accounts that Redis loads at its start: the operator's and the gateway's with the passwords of the
 * mounted Secret, and the accounts of projects as the list on the volume has them.
 * Arguments: the list's path, and the folder with the passwords.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aclFile } from '../runs/accounts.ts';
import { GATEWAY_PASSWORD, OPERATOR_PASSWORD } from './store/secret.ts';

const [list, folder] = process.argv.slice(2);
if (list === undefined || folder === undefined)
  throw new Error('Usage: init-run-store <list of accounts> <folder of passwords>');

const sha256Of = async (key: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(join(folder, key)))
    .digest('hex');

const passwords = {
  operatorPasswordSha256: await sha256Of(OPERATOR_PASSWORD),
  gatewayPasswordSha256: await sha256Of(GATEWAY_PASSWORD),
};
const existing = await readFile(list, 'utf8').catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
});
// Renamed into place, so that a list is whole however this ends.
const next = `${list}.next`;
await writeFile(next, aclFile(passwords, existing), { mode: 0o600 });
await rename(next, list);
