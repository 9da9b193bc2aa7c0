/**
 * What can be said of a token without asking the API server: the cluster's issuer publishes its keys (OpenID Connect
 * Discovery), so that a token that claims to be from it and is not signed by it, or has expired, is refused here. Nobody is
 * let in by this: a good signature only says that the token is worth a question.
 */
import { createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';

/** `signed`: by the issuer, and not expired. `refused`: it cannot be good. `unknown`: only the API server can tell. */
type Verdict = 'signed' | 'refused' | 'unknown';

export type IssuerKeys = {
  judge: (token: string) => Verdict;
  /** Resolves when no keys are being fetched. */
  settled: () => Promise<void>;
};

export type IssuerKeysOptions = { client: Pick<KubeClient, 'raw'>; clock: Clock; log: Log };

/** How old keys may be, and how soon they are fetched again when a token names one that is not among them. */
const FRESH_MS = 300_000;
const AGAIN_MS = 30_000;
/** Between clocks; the API server grants as much. */
const LEEWAY_SECONDS = 60;
const OPTIONS = { timeoutMs: 3_000, retries: 0 };

/** The hash of each algorithm; whether it is RSA or ECDSA the key knows. */
const HASHES: Record<string, { type: string; hash: string }> = {
  RS256: { type: 'rsa', hash: 'sha256' },
  RS384: { type: 'rsa', hash: 'sha384' },
  RS512: { type: 'rsa', hash: 'sha512' },
  ES256: { type: 'ec', hash: 'sha256' },
  ES384: { type: 'ec', hash: 'sha384' },
  ES512: { type: 'ec', hash: 'sha512' },
};

type Held = { issuer: string; keys: Map<string, KeyObject> };

export function createIssuerKeys({ client, clock, log }: IssuerKeysOptions): IssuerKeys {
  let held: Held | undefined;
  let triedAt = -Infinity;
  let fetching = Promise.resolve();

  async function refresh(): Promise<void> {
    triedAt = clock.now();
    try {
      held = await fetchKeys(client);
    } catch (error) {
      // Without keys, or with old ones, every doubt is the API server's to settle.
      log.info({ err: error }, 'the keys of the issuer of tokens cannot be read');
    }
  }

  function refreshAfter(ms: number): void {
    if (clock.now() - triedAt >= ms) fetching = refresh();
  }

  return {
    settled: () => fetching,
    judge: (token) => {
      const parts = readToken(token);
      if (parts === undefined) return 'unknown';
      refreshAfter(held === undefined ? AGAIN_MS : FRESH_MS);
      if (held === undefined || parts.claims.iss !== held.issuer) return 'unknown';
      const key = held.keys.get(parts.head.kid);
      // The issuer may have keys that it does not publish, or that are newer than what is held.
      if (key === undefined) {
        refreshAfter(AGAIN_MS);
        return 'unknown';
      }
      const seconds = clock.date().getTime() / 1_000;
      const isOld = typeof parts.claims.exp === 'number' && parts.claims.exp + LEEWAY_SECONDS < seconds;
      return !isOld && isSignedBy(key, parts) ? 'signed' : 'refused';
    },
  };
}

type Parts = {
  head: { alg: string; kid: string };
  claims: { iss?: unknown; exp?: unknown };
  signed: string;
  signature: string;
};

/** A JWT with a key's name (RFC 7519); undefined for all other tokens. */
function readToken(token: string): Parts | undefined {
  const [head = '', claims = '', signature, ...more] = token.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  const read = { head: parsePart(head), claims: parsePart(claims) };
  const { alg, kid } = read.head ?? {};
  if (typeof alg !== 'string' || typeof kid !== 'string' || read.claims === undefined) return undefined;
  return { head: { alg, kid }, claims: read.claims, signed: `${head}.${claims}`, signature };
}

function parsePart(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isSignedBy(key: KeyObject, { head, signed, signature }: Parts): boolean {
  const algorithm = HASHES[head.alg];
  if (algorithm === undefined || algorithm.type !== key.asymmetricKeyType) return false;
  const bytes = Buffer.from(signature, 'base64url');
  // Node decodes what it can. Only one spelling is right (RFC 7515, section 2); each other would be asked about as a new token.
  if (bytes.toString('base64url') !== signature) return false;
  return verify(algorithm.hash, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

type Discovery = { issuer?: unknown };
type KeySet = { keys?: (JsonWebKey & { kid?: unknown })[] };

/** Throws an ApiError if the API server does not answer, or grants it to nobody. */
async function fetchKeys(client: Pick<KubeClient, 'raw'>): Promise<Held> {
  const read = (path: string, accept: string) => client.raw('GET', path, { accept, ...OPTIONS });
  const { issuer } = (await read('/.well-known/openid-configuration', 'application/json')) as Discovery;
  const { keys = [] } = (await read('/openid/v1/jwks', 'application/jwk-set+json')) as KeySet;
  if (typeof issuer !== 'string') throw new Error('The API server names no issuer.');
  const named = keys.flatMap((key): [string, KeyObject][] =>
    typeof key.kid === 'string' ? [[key.kid, createPublicKey({ key, format: 'jwk' })]] : [],
  );
  return { issuer, keys: new Map(named) };
}
