/**
 * The two Secrets of a project with what providers have granted. What the operator itself needs is written first: whoever is killed
 * between the two writes has lost nothing, and the next look completes it.
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
  await put(client, grantPart(credential, grant));
}

/** Has runners hold this access token, or none. What is so already is not written. */
export async function showToken(
  client: Client,
  credential: Credential,
  { tokens }: Stored,
  shown: Shown | undefined,
): Promise<void> {
  const { namespace = '', name } = credential.metadata;
  const keys = [name, connectionKey(name)];
  const wanted = [shown?.accessToken, shown?.connection];
  if (keys.every((key, index) => tokens.get(key) === wanted[index])) return;
  if (shown) await put(client, tokenPart(credential, shown));
  else await dropEntries(client, namespace, TOKENS, keys);
}

/** Adds a part to its Secret. What others have in it stays: entries and owners are merged by the server, by their keys. */
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
