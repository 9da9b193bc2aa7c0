/**
 * The two Secrets of a project with what providers have granted. What the operator itself needs is written first: whoever is killed
 * between the two writes has lost nothing, and the next look completes it.
 */
import { TOKENS } from '../../api/token.ts';
import type { Credential } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { secrets } from '../../kube/resource.ts';
import { grantPart, managerOf, REFRESH_TOKENS, tokenPart, textsIn, type Grant } from './grant.ts';

export type Stored = { grants: ReadonlyMap<string, string>; tokens: ReadonlyMap<string, string> };

type Client = Pick<KubeClient, 'find' | 'apply' | 'patch'>;

/** What is there now. */
export async function readStored(client: Client, namespace: string): Promise<Stored> {
  const [grants, tokens] = await Promise.all([
    client.find(secrets, { namespace, name: REFRESH_TOKENS }),
    client.find(secrets, { namespace, name: TOKENS }),
  ]);
  return { grants: textsIn(grants), tokens: textsIn(tokens) };
}

/** Keeps a grant for the operator. */
export async function saveGrant(client: Client, credential: Credential, grant: Grant): Promise<void> {
  await client.apply(secrets, grantPart(credential, grant), { fieldManager: managerOf(credential) });
}

/** Gives runners the access token, or takes it from them. */
export async function showToken(
  client: Client,
  credential: Credential,
  accessToken: string | undefined,
): Promise<void> {
  await client.apply(secrets, tokenPart(credential, accessToken), { fieldManager: managerOf(credential) });
}

/** Takes entries out of a Secret, whoever made them. */
export async function dropEntries(
  client: Client,
  namespace: string,
  secret: typeof TOKENS | typeof REFRESH_TOKENS,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  const data = Object.fromEntries(keys.map((key) => [key, null]));
  try {
    await client.patch(secrets, { namespace, name: secret }, { data }, { type: 'merge' });
  } catch (error) {
    // Gone with the last of its owners.
    if (!isNotFound(error)) throw error;
  }
}
