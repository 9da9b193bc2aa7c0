/**
 * Who calls: the TokenReview of a bearer token. A token that names the audience `windlass` is asked about for that
 * audience, any other for the API server's own; what the token says of itself is only a hint of what to ask.
 */
import { randomUUID } from 'node:crypto';
import type { KubeClient } from '../../kube/client.ts';
import { tokenReviews, type TokenReview } from '../../kube/resource.ts';

/** The audience that tokens for Windlass should be made for: they are good for nothing else. */
export const AUDIENCE = 'windlass';

/** Who the API server says that a token belongs to. */
export type Identity = {
  username: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
};

const MAX_TOKEN = 8_192;
/** A person waits: what does not answer within this time is away. */
export const REVIEW_OPTIONS = { timeoutMs: 3_000, retries: 1 } as const;

/** The token of an Authorization header (RFC 6750, section 2.1); undefined for everything that cannot be one. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > MAX_TOKEN) return undefined;
  return /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1];
}

/** Asks the API server. Undefined if it does not accept the token; throws an ApiError if it cannot be asked. */
export type ReviewToken = (token: string) => Promise<Identity | undefined>;

/**
 * Each answer is of this moment: the API server remembers for 10 s which tokens it accepted, by token and audiences, so that
 * a token is asked about for one audience more, which no token has and which is another each time.
 */
export function createTokenReview(client: Pick<KubeClient, 'create'>): ReviewToken {
  /** What the API server calls itself in tokens, once it has said so. */
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
      // An authenticator that knows no audiences answers with none: then the token is the API server's, not ours.
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

/** Whom a JWT says that it is for. Nothing is trusted here: the API server verifies the audiences that are asked for. */
export function audiencesOf(token: string): string[] {
  return audiencesIn(claimsOf(token));
}

/** The audiences of a token with these claims. */
export function audiencesIn({ aud }: Record<string, unknown>): string[] {
  return [aud].flat().filter((name) => typeof name === 'string');
}

/** What a JWT says of itself; nothing of other tokens. Nobody has verified it. */
export function claimsOf(token: string): Record<string, unknown> {
  const payload = token.split('.')[1];
  if (payload === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}
