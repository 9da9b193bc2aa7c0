/**
 * Who calls: the TokenReview of a bearer token. A token that names the audience `windlass` is asked about for that
 * audience, any other for the API server's own; what the token says of itself is only a hint of what to ask.
 */
import type { KubeClient } from '../../kube/client.ts';
import { tokenReviews, type TokenReview } from '../../kube/resource.ts';

/** The audience that tokens for Windlass should be made for: they are good for nothing else. */
const AUDIENCE = 'windlass';

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
export async function reviewToken(
  client: Pick<KubeClient, 'create'>,
  token: string,
): Promise<Identity | undefined> {
  const audiences = claimsAudience(token) ? [AUDIENCE] : undefined;
  const review = await client.create<TokenReview>(
    tokenReviews,
    { metadata: { name: '' }, spec: { token, ...(audiences && { audiences }) } },
    REVIEW_OPTIONS,
  );
  const { authenticated, audiences: valid = [], user } = review.status ?? {};
  if (authenticated !== true || user?.username === undefined || user.username === '') return undefined;
  // An authenticator that knows no audiences answers with none: then the token is the API server's, not ours.
  if (audiences !== undefined && !valid.includes(AUDIENCE)) return undefined;
  return { ...user, username: user.username };
}

/** Whether a JWT says that it is for us. Nothing is trusted here: the API server verifies the audience that is asked for. */
function claimsAudience(token: string): boolean {
  const payload = token.split('.')[1];
  if (payload === undefined) return false;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('aud' in claims)) return false;
    return Array.isArray(claims.aud) ? claims.aud.includes(AUDIENCE) : claims.aud === AUDIENCE;
  } catch {
    return false;
  }
}
