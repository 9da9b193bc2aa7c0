/**
 * Authenticates bearer tokens by TokenReview. A token with the audience `windlass` is reviewed for that
 * audience, any other for the API server's own audiences. The token's claims only select the review; they are
 * never trusted.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { KubeClient } from '../../kube/client.ts';
import { tokenReviews, type TokenReview } from '../../kube/resource.ts';
import { membersOf } from '../../api/record.ts';

/** The recommended audience of tokens for Windlass: nothing else accepts them. */
export const AUDIENCE = 'windlass';

/** The identity that the API server assigns to a token. */
export type Identity = {
  username: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
};

const MAX_TOKEN = 8_192;
/** Short, because a person waits for the answer. */
export const REVIEW_OPTIONS = { timeoutMs: 3_000, retries: 1 } as const;

/**
 * The token of an Authorization header (RFC 6750, section 2.1); undefined if the header has no well-formed
 * bearer token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > MAX_TOKEN) return undefined;
  return /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1];
}

/** Reviews a token. Undefined if the API server rejects it; throws an ApiError if there is no answer. */
export type ReviewToken = (token: string) => Promise<Identity | undefined>;

/**
 * Each answer is current. The API server caches accepted tokens for 10 s by token and audiences, so each
 * review also asks for a random audience that no token has.
 */
export function createTokenReview(client: Pick<KubeClient, 'create'>): ReviewToken {
  /** The API server's own audiences, once a review has returned them. */
  let own: string[] = [];

  async function ask(token: string, audiences: string[]): Promise<Reviewed | undefined> {
    const wanted = audiences.length > 0 ? [...audiences, `none-${randomUUID()}`] : undefined;
    const review = await client.create<TokenReview>(
      tokenReviews,
      { metadata: { name: '' }, spec: { token, ...(wanted && { audiences: wanted }) } },
      REVIEW_OPTIONS,
    );
    const { authenticated, audiences: valid = [], user } = review.status ?? {};
    if (authenticated !== true || user?.username === undefined || user.username === '') return undefined;
    return { identity: { ...user, username: user.username }, valid };
  }

  return async (token) => {
    const named = audiencesOf(token);
    if (named.includes(AUDIENCE)) {
      const reviewed = await ask(token, [AUDIENCE]);
      // An authenticator without audience support returns none: then the token is valid for the API server,
      // not for Windlass.
      return reviewed?.valid.includes(AUDIENCE) === true ? reviewed.identity : undefined;
    }
    const isForOwn = own.length > 0 && (named.length === 0 || named.some((name) => own.includes(name)));
    if (!isForOwn) {
      const reviewed = await ask(token, []);
      if (reviewed === undefined || reviewed.valid.length === 0) return reviewed?.identity;
      own = [...new Set([...own, ...reviewed.valid])];
    }
    return (await ask(token, own))?.identity;
  };
}

type Reviewed = { identity: Identity; valid: string[] };

/** The audiences that a JWT claims. Unverified: the API server verifies the audiences of a review. */
export function audiencesOf(token: string): string[] {
  return audiencesIn(claimsOf(token));
}

/** The audiences in these claims. */
export function audiencesIn({ aud }: Record<string, unknown>): string[] {
  return [aud].flat().filter((name) => typeof name === 'string');
}

/** The claims of a JWT, unverified; empty for other tokens. */
export function claimsOf(token: string): Record<string, unknown> {
  const payload = token.split('.')[1];
  if (payload === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return membersOf(claims);
  } catch {
    return {};
  }
}

/** A hash that identifies a token in memory. */
export function tokenKey(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
