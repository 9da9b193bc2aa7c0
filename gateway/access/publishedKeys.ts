/**
 * Fetches the published keys of token issuers: of the cluster from the API server, of an OpenID Connect
 * provider from its `jwks_uri`.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as z from 'zod';
import type { KubeClient } from '../../kube/client.ts';
import type { PublishedKeys } from './issuerKeys.ts';

const TIMEOUT_MS = 3_000;
const OPTIONS = { timeoutMs: TIMEOUT_MS, retries: 0 };
/** Issuers publish two or three. A token without a key ID is compared with all of them. */
const MOST_KEYS = 16;

const keySet = z.object({
  keys: z.array(z.looseObject({ kid: z.string().optional(), use: z.string().optional() })),
});

/**
 * The keys of the cluster's issuer. Throws an ApiError if the API server does not answer or denies access.
 */
export async function fetchClusterKeys(client: Pick<KubeClient, 'raw'>): Promise<PublishedKeys> {
  const read = (path: string, accept: string) => client.raw('GET', path, { accept, ...OPTIONS });
  const found = await read('/.well-known/openid-configuration', 'application/json');
  const { issuer } = z.object({ issuer: z.string() }).parse(found);
  return { issuer, keys: keysIn(await read('/openid/v1/jwks', 'application/jwk-set+json')) };
}

/**
 * The keys of an OpenID Connect provider. Throws if its answer is invalid. Plain HTTP only if the issuer URL
 * itself uses it.
 */
export async function fetchProviderKeys(issuer: string): Promise<PublishedKeys> {
  const url = new URL(issuer);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const allowed = { signal, [oauth.allowInsecureRequests]: url.protocol === 'http:' };
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, allowed));
  const address = new URL(server.jwks_uri ?? '');
  if (address.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error('the jwks_uri of the provider has no TLS');
  const answer = await fetch(address, { signal, redirect: 'error', headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`reading the provider's keys failed with status ${answer.status}`);
  return { issuer: server.issuer, keys: keysIn(await answer.json()) };
}

function keysIn(set: unknown): Map<string, KeyObject> {
  const { keys } = keySet.parse(set);
  const usable = keys.filter(({ use }) => use !== 'enc').slice(0, MOST_KEYS);
  return new Map(
    usable.flatMap((key, at): [string, KeyObject][] => {
      const read = keyOf(key);
      return read === undefined ? [] : [[key.kid ?? `#${at}`, read]];
    }),
  );
}

/** Undefined for unsupported key types; other keys still count. */
function keyOf(key: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}
