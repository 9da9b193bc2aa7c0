/**
 * The two Secrets of a project with grants. The operator's own is written first: if it is killed between the
 * two writes, nothing is lost, and the next reconcile writes the other.
 */
import { connectionKey, TOKENS } from '../../api/token.ts';
import type { Credential } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Manifest } from '../../kube/writes.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { secrets, type Secret } from '../../kube/resource.ts';
import { grantPart, REFRESH_TOKENS, tokenPart, textsIn, type Grant, type Shown } from './grant.ts';

export type Stored = { grants: ReadonlyMap<string, string>; tokens: ReadonlyMap<string, string> };

type Client = Pick<KubeClient, 'find' | 'create' | 'patch'>;

/** The entries of both Secrets. */
export async function readStored(client: Client, namespace: string): Promise<Stored> {
  const [grants, tokens] = await Promise.all([
    client.find(secrets, { namespace, name: REFRESH_TOKENS }),
    client.find(secrets, { namespace, name: TOKENS }),
  ]);
  return { grants: textsIn(grants), tokens: textsIn(tokens) };
}

/** Stores a grant in the operator's Secret. */
export async function saveGrant(client: Client, credential: Credential, grant: Grant): Promise<void> {
  await put(client, grantPart(credential, grant));
}

/** Writes the access token for runners, or removes it, unless the Secret already has that state. */
export async function showToken(
  client: Client,
  credential: Credential,
  { tokens }: Stored,
  shown: Shown | undefined,
): Promise<void> {
  const { namespace = '', name } = credential.metadata;
  const keys = [name, connectionKey(name)];
  const desired = [shown?.accessToken, shown?.connection];
  if (keys.every((key, index) => tokens.get(key) === desired[index])) return;
  if (shown) await put(client, tokenPart(credential, shown));
  else await dropEntries(client, namespace, TOKENS, keys);
}

/** Adds entries to a Secret. The API server merges entries and owners by key, so that others stay. */
async function put(client: Client, part: Manifest<Secret>): Promise<void> {
  const { name, namespace = '' } = part.metadata;
  const patch = () => client.patch(secrets, { namespace, name }, part, { type: 'strategic' });
  try {
    await patch();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(secrets, part).catch((failure: unknown) => {
      if (!isAlreadyExists(failure)) throw failure;
      return patch();
    });
  }
}

/** Removes entries from a Secret, whoever wrote them. */
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
    // The Secret was deleted with the last of its owners.
    if (!isNotFound(error)) throw error;
  }
}
