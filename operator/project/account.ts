/**
 * The account of a project's runners in the run store. Its password is generated once and stored in the
 * pool's Secret.
 */
import { createHash } from 'node:crypto';
import type { KubeClient } from '../../kube/client.ts';
import { secrets } from '../../kube/resource.ts';
import { poolAccount } from '../../store/accounts.ts';
import { generatePassword } from '../store/secret.ts';
import type { PoolAccount } from './manifests.ts';
import { POOL } from '../shared/names.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** The account with the password of the existing Secret, or a new one. */
export async function poolCredentials(
  client: Pick<KubeClient, 'find'>,
  project: { namespace: string; uid: ProjectUid },
): Promise<PoolAccount> {
  const secret = await client.find(secrets, { namespace: project.namespace, name: POOL });
  const kept = Buffer.from(secret?.data?.['password'] ?? '', 'base64').toString('utf8');
  return { username: poolAccount(project.uid), password: kept === '' ? generatePassword() : kept };
}

/** The run store gets this hash instead of the password. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
