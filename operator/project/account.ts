/**
 * The account of a project's runners in the run store. Unless it is supplied, its password is generated
 * once and stored in the pool's Secret.
 */
import { createHash } from 'node:crypto';
import type { KubeClient } from '../../kube/client.ts';
import { secrets } from '../../kube/resource.ts';
import type { PoolAccount, PoolAccounts } from '../shared/poolAccounts.ts';
import { parseKeys, rotateKeys, type DatedKey } from './callbackKeys.ts';
import { CALLBACK_KEYS } from './manifests.ts';
import { POOL } from '../shared/names.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** The content of the pool's Secret: the account, and the keys of callbacks. */
export type PoolSecrets = { account: PoolAccount; callbackKeys: readonly DatedKey[] };

/** Reads the existing Secret. A missing password and missing keys are created. */
export async function poolCredentials(
  { client, accounts }: { client: Pick<KubeClient, 'find'>; accounts: Pick<PoolAccounts, 'accountOf'> },
  project: { namespace: string; uid: ProjectUid },
  now: number,
): Promise<PoolSecrets> {
  const secret = await client.find(secrets, { namespace: project.namespace, name: POOL });
  const kept = Buffer.from(secret?.data?.['password'] ?? '', 'base64').toString('utf8');
  const account = accounts.accountOf(project.uid, kept);
  const keys = Buffer.from(secret?.data?.[CALLBACK_KEYS] ?? '', 'base64').toString('utf8');
  return { account, callbackKeys: rotateKeys(parseKeys(keys), now) };
}

/** The run store gets this hash instead of the password. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
