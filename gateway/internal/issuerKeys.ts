/**
 * What can be said of a token without asking the API server: issuers publish their keys (OpenID Connect Discovery), so that a token that
 * claims to be from one and is not signed by it, or has expired, is refused here. Nobody is let in by this: a good signature only says
 * that the token is worth a question.
 */
import { constants, verify, type KeyObject } from 'node:crypto';
import type { Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import { audiencesIn } from './identity.ts';

/** `signed`: by the issuer, and not expired. `refused`: it cannot be good. `unknown`: only the API server can tell. */
export type Verdict = 'signed' | 'refused' | 'unknown';

export type IssuerKeys = {
  judge: (token: string) => Verdict;
  /** The same, after the keys that are being fetched for such a token have come. */
  judgeFetched: (token: string) => Promise<Verdict>;
  /** Resolves when no keys are being fetched. */
  settled: () => Promise<void>;
};

/** An issuer and the keys that it publishes, by their names. */
export type PublishedKeys = { issuer: string; keys: ReadonlyMap<string, KeyObject> };

export type IssuerKeysOptions = {
  fetchKeys: () => Promise<PublishedKeys>;
  /** The issuer, where it is known before its keys are: its tokens wait for them. */
  issuer?: string;
  /** Tokens for others are not worth more than any: whoever has an account at a public provider gets such. Undefined: all are. */
  audience?: string;
  clock: Clock;
  log: Log;
};

/** How old keys may be, and how soon they are fetched again when a token names one that is not among them. */
const FRESH_MS = 300_000;
const AGAIN_MS = 30_000;
/** Between clocks; the API server grants as much. */
const LEEWAY_SECONDS = 60;

type Algorithm = { type: string; hash: string | null; curve?: string; isPss?: true };

/** What a token may be signed with. HMACs and `none` are missing on purpose. */
const ALGORITHMS: Record<string, Algorithm> = {
  RS256: { type: 'rsa', hash: 'sha256' },
  RS384: { type: 'rsa', hash: 'sha384' },
  RS512: { type: 'rsa', hash: 'sha512' },
  PS256: { type: 'rsa', hash: 'sha256', isPss: true },
  PS384: { type: 'rsa', hash: 'sha384', isPss: true },
  PS512: { type: 'rsa', hash: 'sha512', isPss: true },
  ES256: { type: 'ec', hash: 'sha256', curve: 'prime256v1' },
  ES384: { type: 'ec', hash: 'sha384', curve: 'secp384r1' },
  ES512: { type: 'ec', hash: 'sha512', curve: 'secp521r1' },
  EdDSA: { type: 'ed25519', hash: null },
};

export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { fetchKeys, audience, clock, log } = options;
  let held: PublishedKeys | undefined;
  let triedAt = -Infinity;
  let fetching: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    triedAt = clock.now();
    try {
      held = await fetchKeys();
    } catch (error) {
      // Without keys, or with old ones, every doubt is the API server's to settle.
      log.info({ err: error, issuer: options.issuer }, 'reading the keys of a token issuer failed');
    }
  }

  function refreshAfter(ms: number): void {
    if (clock.now() - triedAt >= ms) fetching ??= refresh().finally(() => (fetching = undefined));
  }

  function judgeParts(parts: Parts): Verdict {
    refreshAfter(held === undefined ? AGAIN_MS : FRESH_MS);
    if (held === undefined || parts.claims['iss'] !== held.issuer) return 'unknown';
    const { kid } = parts.head;
    const named = kid === undefined ? undefined : held.keys.get(kid);
    const candidates =
      kid === undefined ? [...held.keys.values()] : [named].filter((key) => key !== undefined);
    if (!candidates.some((key) => isSignedBy(key, parts))) {
      if (named !== undefined) return 'refused';
      // The issuer may have keys that it does not publish, or that are newer than what is held.
      refreshAfter(AGAIN_MS);
      return 'unknown';
    }
    if (!isOfThisTime(parts.claims, clock.date().getTime() / 1_000)) return 'refused';
    return audience === undefined || audiencesIn(parts.claims).includes(audience) ? 'signed' : 'unknown';
  }

  function judge(token: string): Verdict {
    const parts = readToken(token);
    return parts === undefined ? 'unknown' : judgeParts(parts);
  }

  return {
    settled: async () => fetching,
    judge,
    judgeFetched: async (token) => {
      const verdict = judge(token);
      if (verdict !== 'unknown' || fetching === undefined || !isFrom(token, options.issuer)) return verdict;
      await fetching;
      return judge(token);
    },
  };
}

/** Whether the token says that it is from the issuer. Providers differ in the slash at the end. */
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
  head: { alg: string; kid: string | undefined };
  claims: Record<string, unknown>;
  signed: string;
  signature: string;
};

/** A JWT (RFC 7519); undefined for all other tokens. */
function readToken(token: string): Parts | undefined {
  const [head = '', claims = '', signature, ...more] = token.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  const read = { head: parsePart(head), claims: parsePart(claims) };
  const { alg, kid } = read.head ?? {};
  if (typeof alg !== 'string' || read.claims === undefined) return undefined;
  if (kid !== undefined && typeof kid !== 'string') return undefined;
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
  const algorithm = Object.hasOwn(ALGORITHMS, head.alg) ? ALGORITHMS[head.alg] : undefined;
  if (algorithm === undefined || algorithm.type !== key.asymmetricKeyType) return false;
  if (algorithm.curve !== undefined && algorithm.curve !== key.asymmetricKeyDetails?.namedCurve) return false;
  const bytes = Buffer.from(signature, 'base64url');
  // Node decodes what it can. Only one spelling is right (RFC 7515, section 2); each other would be asked about as a new token.
  if (bytes.toString('base64url') !== signature) return false;
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_DIGEST: saltLength } = constants;
  const form = algorithm.isPss === true ? { padding, saltLength } : { dsaEncoding: 'ieee-p1363' as const };
  return verify(algorithm.hash, Buffer.from(signed), { key, ...form }, bytes);
}
