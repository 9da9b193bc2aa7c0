/**
 * Rejects invalid tokens without asking the API server. Issuers publish their keys (OpenID Connect
 * Discovery), so a token that claims an issuer but has expired or has no valid signature of it is refused
 * here. A valid signature alone allows nothing: it only makes the token worth a review.
 */
import type { KeyObject } from 'node:crypto';
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import type { Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import { audiencesIn } from './identity.ts';

/**
 * `signed`: signed by the issuer and not expired. `refused`: cannot be valid. `unknown`: only the API server
 * can tell.
 */
export type Verdict = 'signed' | 'refused' | 'unknown';

export type IssuerKeys = {
  judge: (token: string) => Promise<Verdict>;
  /** As `judge`, but waits for keys that are being fetched for such a token. */
  judgeFetched: (token: string) => Promise<Verdict>;
  /** Resolves when no keys are being fetched. */
  settled: () => Promise<void>;
};

/** An issuer and its published keys by key ID. */
export type PublishedKeys = { issuer: string; keys: ReadonlyMap<string, KeyObject> };

export type IssuerKeysOptions = {
  fetchKeys: () => Promise<PublishedKeys>;
  /** The issuer, if it is known before its keys are: its tokens wait for the keys. */
  issuer?: string;
  /**
   * Tokens for other audiences stay `unknown`: anyone with an account at a public provider gets those.
   * Undefined: any audience.
   */
  audience?: string;
  clock: Clock;
  log: Log;
};

/** How old keys may be, and how soon they are fetched again when a token names an unknown key. */
const FRESH_MS = 300_000;
const AGAIN_MS = 30_000;
/** Tolerated clock skew; the API server tolerates as much. */
const LEEWAY_SECONDS = 60;

/** Accepted signature algorithms. HMACs and `none` are excluded on purpose. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { fetchKeys, audience, clock, log } = options;
  let cached: PublishedKeys | undefined;
  let triedAt = -Infinity;
  let fetching: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    triedAt = clock.now();
    try {
      cached = await fetchKeys();
    } catch (error) {
      // Without keys, or with old ones, the API server decides.
      log.info({ err: error, issuer: options.issuer }, 'reading issuer keys failed');
    }
  }

  function refreshAfter(ms: number): void {
    if (clock.now() - triedAt >= ms) fetching ??= refresh().finally(() => (fetching = undefined));
  }

  async function judgeParts(parts: Parts): Promise<Verdict> {
    refreshAfter(cached === undefined ? AGAIN_MS : FRESH_MS);
    if (cached === undefined || parts.claims['iss'] !== cached.issuer) return 'unknown';
    const { kid } = parts;
    const named = kid === undefined ? undefined : cached.keys.get(kid);
    const candidates =
      kid === undefined ? [...cached.keys.values()] : [named].filter((key) => key !== undefined);
    const verified = await Promise.all(candidates.map((key) => isSignedBy(key, parts)));
    if (!verified.includes(true)) {
      if (named !== undefined) return 'refused';
      // The issuer may have keys that it does not publish, or newer ones.
      refreshAfter(AGAIN_MS);
      return 'unknown';
    }
    if (!isOfThisTime(parts.claims, clock.date().getTime() / 1_000)) return 'refused';
    return audience === undefined || audiencesIn(parts.claims).includes(audience) ? 'signed' : 'unknown';
  }

  async function judge(token: string): Promise<Verdict> {
    const parts = readToken(token);
    return parts === undefined ? 'unknown' : judgeParts(parts);
  }

  return {
    settled: async () => fetching,
    judge,
    judgeFetched: async (token) => {
      const verdict = await judge(token);
      if (verdict !== 'unknown' || fetching === undefined || !isFrom(token, options.issuer)) return verdict;
      await fetching;
      return judge(token);
    },
  };
}

/** Whether the token claims this issuer. Providers differ in the trailing slash. */
function isFrom(token: string, issuer: string | undefined): boolean {
  const iss = readToken(token)?.claims['iss'];
  const plain = (text: string) => text.replace(/\/+$/, '');
  return issuer !== undefined && typeof iss === 'string' && plain(iss) === plain(issuer);
}

function isOfThisTime({ exp, nbf }: Record<string, unknown>, seconds: number): boolean {
  const isOver = typeof exp === 'number' && exp + LEEWAY_SECONDS < seconds;
  const isEarly = typeof nbf === 'number' && nbf - LEEWAY_SECONDS > seconds;
  return !isOver && !isEarly;
}

type Parts = {
  kid: string | undefined;
  claims: Record<string, unknown>;
  token: string;
};

/** A parsed JWT (RFC 7519); undefined for other tokens. */
function readToken(token: string): Parts | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const isNamed = kid === undefined || typeof kid === 'string';
    return typeof alg === 'string' && isNamed ? { kid, claims: decodeJwt(token), token } : undefined;
  } catch {
    return undefined;
  }
}

async function isSignedBy(key: KeyObject, { token }: Parts): Promise<boolean> {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  // Only the canonical encoding is accepted (RFC 7515, section 2): any other would be reviewed as a new
  // token.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) return false;
  try {
    await compactVerify(token, key, { algorithms: ALGORITHMS });
    return true;
  } catch {
    return false;
  }
}
