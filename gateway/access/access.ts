/**
 * Authenticates and authorises callers. The issuers' published keys reject tokens that cannot be valid, a
 * TokenReview authenticates the others, and a SubjectAccessReview authorises, so that the cluster's RBAC
 * decides. Decisions are cached for at most 8 s, counted from before the review, and the number of reviews is
 * bounded. While the API server does not answer, no caller is allowed.
 */
import { GROUP } from '../../api/group.ts';
import type { KubeClient } from '../../kube/client.ts';
import { systemClock, type Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import { subjectAccessReviews, type SubjectAccessReview } from '../../kube/resource.ts';
import type { Right } from '../contract/operation.ts';
import type { Metrics } from '../http/metrics.ts';
import { bearerToken, createTokenReview, REVIEW_OPTIONS, tokenKey, type Identity } from './identity.ts';
import { createIssuerKeys, type IssuerKeys, type Verdict } from './issuerKeys.ts';
import { fetchClusterKeys, fetchProviderKeys } from './publishedKeys.ts';
import { createReviewLimit, Overloaded, TooOften } from './reviewLimit.ts';
import { createExpiringMap } from '../limits/boundedMaps.ts';

/** What a caller wants to do, as RBAC describes it. */
export type Wanted = Omit<Right, 'on'> & {
  namespace: string;
  /** Empty: all objects of the namespace. */
  name: string;
};

export type Decision = 'allowed' | 'unauthorized' | 'forbidden' | 'too-often' | 'unavailable';

export type Identified =
  | { outcome: 'known'; identity: Identity }
  | { outcome: 'unauthorized' | 'too-often' | 'unavailable' };

/** What identifies a caller: the Authorization header and the client's address. */
export type CallerCredentials = { authorization: string | undefined; address: string };

/** The decision, and the caller's identity if the API server confirmed it. */
export type AccessDecision = { decision: Decision; identity?: Identity };

export type Access = {
  /** Authenticates and authorises a caller. Never rejects. */
  authorize: (shown: CallerCredentials, wanted: Wanted | undefined) => Promise<AccessDecision>;
  /** As `authorize`, without the identity. */
  decide: (shown: CallerCredentials, wanted: Wanted | undefined) => Promise<Decision>;
  /** Authenticates a caller. Never rejects. */
  identify: (shown: CallerCredentials) => Promise<Identified>;
};

/** A revoked token is refused within 10 s, including the time of the review. */
const POSITIVE_MS = 8_000;
/** Short, so that a person who was just granted a right can try again at once. */
const NEGATIVE_MS = 2_000;
/**
 * How long a token that was once accepted is reviewed apart from unknown tokens. It is still reviewed each
 * time.
 */
const ACCEPTED_MS = 600_000;
const MAX_IDENTITIES = 2_048;
const MAX_ACCEPTED = 8_192;
const MAX_REFUSED = 8_192;
const MAX_DECISIONS = 256;

/** `key` is a hash of the token: two tokens of one user may differ in groups and scopes. */
type Known = { key: string; identity: Identity; decisions: ReturnType<typeof createExpiringMap<boolean>> };

type Found = { outcome: 'known'; caller: Known } | { outcome: 'unauthorized' | 'too-often' | 'unavailable' };

export type AccessOptions = {
  client: Pick<KubeClient, 'create' | 'raw'>;
  /** The provider whose ID tokens users sign in with, and the client that they are issued for. */
  provider?: { issuer: string; clientID: string } | undefined;
  metrics: Pick<Metrics, 'reviews'>;
  log: Log;
  clock?: Clock;
};

export function createAccess(options: AccessOptions): Access {
  const { client, provider, metrics, log, clock = systemClock } = options;
  const limit = createReviewLimit(clock);
  const once = createSingleFlight();
  const countReview = createReviewCounter(metrics);
  const { identify } = createTokenCache({ client, provider, metrics, log, clock, limit, once, countReview });

  async function allows({ key: token, identity, decisions }: Known, wanted: Wanted): Promise<boolean> {
    const key = Object.values(wanted).join(' ');
    const cached = decisions.get(key);
    if (cached !== undefined) return cached;
    return once(`may ${token} ${key}`, async () => {
      const askedAt = clock.now();
      const allowed = await countReview('access', () =>
        limit.forUser(identity.username, () => reviewAccess(client, identity, wanted)),
      );
      decisions.set(key, allowed, askedAt + (allowed ? POSITIVE_MS : NEGATIVE_MS));
      return allowed;
    });
  }

  function refusalFor(error: unknown): 'too-often' | 'unavailable' {
    if (error instanceof TooOften) return 'too-often';
    if (!(error instanceof Overloaded)) log.warn({ err: error }, 'reviewing a caller failed');
    return 'unavailable';
  }

  async function find({ authorization, address }: CallerCredentials): Promise<Found> {
    const token = bearerToken(authorization);
    if (token === undefined) return { outcome: 'unauthorized' };
    try {
      const caller = await identify(token, address);
      return caller === undefined ? { outcome: 'unauthorized' } : { outcome: 'known', caller };
    } catch (error) {
      return { outcome: refusalFor(error) };
    }
  }

  async function authorize(shown: CallerCredentials, wanted: Wanted | undefined): Promise<AccessDecision> {
    const found = await find(shown);
    if (found.outcome !== 'known') return { decision: found.outcome };
    const { identity } = found.caller;
    if (wanted === undefined) return { decision: 'forbidden', identity };
    try {
      return { decision: (await allows(found.caller, wanted)) ? 'allowed' : 'forbidden', identity };
    } catch (error) {
      return { decision: refusalFor(error), identity };
    }
  }

  return {
    authorize,
    decide: async (shown, wanted) => (await authorize(shown, wanted)).decision,
    identify: async (shown) => {
      const found = await find(shown);
      return found.outcome === 'known' ? { outcome: 'known', identity: found.caller.identity } : found;
    },
  };
}

type TokenCacheOptions = Required<Omit<AccessOptions, 'provider'>> &
  Pick<AccessOptions, 'provider'> & {
    limit: ReturnType<typeof createReviewLimit>;
    once: ReturnType<typeof createSingleFlight>;
    countReview: ReturnType<typeof createReviewCounter>;
  };

/** Identities of recently reviewed tokens. */
function createTokenCache({
  client,
  provider,
  metrics,
  log,
  clock,
  limit,
  once,
  countReview,
}: TokenCacheOptions) {
  const known = createExpiringMap<Known>(MAX_IDENTITIES, clock);
  const refused = createExpiringMap<true>(MAX_REFUSED, clock);
  const accepted = createExpiringMap<true>(MAX_ACCEPTED, clock);
  const reviewToken = createTokenReview(client);
  const judge = createJudge({ client, provider, clock, log });

  async function identify(token: string, address: string): Promise<Known | undefined> {
    const key = tokenKey(token);
    const cached = known.get(key);
    if (cached !== undefined || refused.get(key) === true) return cached;
    return once(`who ${key}`, async () => {
      const verdict = await judge(token);
      if (verdict === 'refused') {
        metrics.reviews.inc({ kind: 'issuer', outcome: 'no' });
        return undefined;
      }
      const askedAt = clock.now();
      const isKnown = verdict === 'signed' || accepted.get(key) === true;
      const review = () => reviewToken(token);
      const identity = await countReview('token', () =>
        isKnown ? limit.forKnown(review) : limit.forUnknown(address, review),
      );
      if (identity === undefined) {
        accepted.delete(key);
        refused.set(key, true, askedAt + NEGATIVE_MS);
        return undefined;
      }
      // Decisions are part of the identity's entry and expire with it: a revoked token is refused within 10
      // s.
      const entry = { key, identity, decisions: createExpiringMap<boolean>(MAX_DECISIONS, clock) };
      known.set(key, entry, askedAt + POSITIVE_MS);
      accepted.set(key, true, askedAt + ACCEPTED_MS);
      return entry;
    });
  }

  return { identify };
}

/** Judges a token by the keys of the cluster's issuer and of the provider, if there is one. */
function createJudge({ client, provider, clock, log }: Omit<AccessOptions, 'metrics'> & { clock: Clock }) {
  const cluster = createIssuerKeys({ fetchKeys: () => fetchClusterKeys(client), clock, log });
  const issuers = [cluster, ...(provider === undefined ? [] : [providerKeys(provider, clock, log)])];
  return async (token: string): Promise<Verdict> => {
    for (const issuer of issuers) {
      const verdict = await issuer.judgeFetched(token);
      if (verdict !== 'unknown') return verdict;
    }
    return 'unknown';
  };
}

function providerKeys(
  { issuer, clientID: audience }: NonNullable<AccessOptions['provider']>,
  clock: Clock,
  log: Log,
): IssuerKeys {
  return createIssuerKeys({ fetchKeys: () => fetchProviderKeys(issuer), issuer, audience, clock, log });
}

/** Runs a review and counts its outcome. */
function createReviewCounter({ reviews }: AccessOptions['metrics']) {
  return async <T>(kind: string, review: () => Promise<T>): Promise<T> => {
    try {
      const answer = await review();
      reviews.inc({ kind, outcome: answer === undefined || answer === false ? 'no' : 'yes' });
      return answer;
    } catch (error) {
      reviews.inc({ kind, outcome: failureOf(error) });
      throw error;
    }
  };
}

/** Concurrent callers with the same key share one answer. */
function createSingleFlight(): <T>(key: string, review: () => Promise<T>) => Promise<T> {
  const inProgress = new Map<string, Promise<unknown>>();
  return async <T>(key: string, review: () => Promise<T>) => {
    const running = inProgress.get(key) as Promise<T> | undefined;
    if (running !== undefined) return running;
    const answer = review().finally(() => inProgress.delete(key));
    inProgress.set(key, answer);
    return answer;
  };
}

function failureOf(error: unknown): string {
  if (error instanceof TooOften) return 'too-often';
  return error instanceof Overloaded ? 'overloaded' : 'failed';
}

async function reviewAccess(
  client: Pick<KubeClient, 'create'>,
  identity: Identity,
  wanted: Wanted,
): Promise<boolean> {
  const { username, uid, groups, extra } = identity;
  const review = await client.create<SubjectAccessReview>(
    subjectAccessReviews,
    {
      metadata: { name: '' },
      spec: {
        user: username,
        ...(uid !== undefined && { uid }),
        ...(groups !== undefined && { groups }),
        ...(extra !== undefined && { extra }),
        resourceAttributes: { group: GROUP, ...wanted },
      },
    },
    REVIEW_OPTIONS,
  );
  return review.status?.allowed === true;
}
