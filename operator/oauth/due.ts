/** When a grant is renewed. Pure. */
import { shortHash } from '../../api/names.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { Grant } from './grant.ts';

/** Runners read an access token again within a minute; this also bridges an outage of the provider. */
const LONGEST_MARGIN_MS = 900_000;
/** Renewing more often is useless, and tokens that expire at once must not cause constant renewals. */
const LEAST_LIFE_MS = 30_000;
/** The assumed lifetime of a token without expiration (RFC 6749, section 5.1). */
const ASSUMED_LIFE_MS = 3_600_000;
/** A person has to act: the expiration is reported this long in advance, at most. */
const LONGEST_NOTICE_MS = 3 * 24 * 3_600_000;
const CHECK_MS = 300_000;
const LEAST_MS = 100;
const BACKOFF: Backoff = { initialMs: 2_000, factor: 2, maxMs: 300_000, jitter: 0.5 };

/**
 * When to renew the grant, in milliseconds since 1970: a quarter of its lifetime before it expires, and up to
 * an eighth earlier, so that grants of the same time are not renewed at the same time. The result is the same
 * for each call. Undefined: it cannot be renewed.
 */
export function renewalAt(uid: string, { expiresAt, obtainedAt, refreshToken }: Grant): number | undefined {
  if (refreshToken === undefined) return undefined;
  const lifeMs = expiresAt === undefined ? ASSUMED_LIFE_MS : expiresAt - obtainedAt;
  const marginMs = Math.min(lifeMs / 4, LONGEST_MARGIN_MS);
  const beforeMs = marginMs + (marginMs / 2) * fractionOf(`${uid} ${obtainedAt}`);
  return obtainedAt + Math.max(lifeMs - beforeMs, LEAST_LIFE_MS);
}

/**
 * From when on the expiration is reported, in milliseconds since 1970: without a refresh token a quarter of
 * the lifetime in advance, at most three days; otherwise when renewals have failed for long. Undefined: it
 * does not expire, or was revoked.
 */
export function noticeAt({ accessToken, expiresAt, obtainedAt, refreshToken }: Grant): number | undefined {
  if (expiresAt === undefined || accessToken === '') return undefined;
  const quarterMs = (expiresAt - obtainedAt) / 4;
  const noticeMs =
    refreshToken === undefined
      ? Math.min(quarterMs, LONGEST_NOTICE_MS)
      : Math.min(quarterMs, LONGEST_MARGIN_MS) / 2;
  return expiresAt - noticeMs;
}

/** The delay after this many consecutive failures. */
export function retryMs(failures: number): number {
  return backoffDelay(BACKOFF, failures);
}

/** A number from 0 to 1 that is the same for the same text. */
function fractionOf(text: string): number {
  return (Number.parseInt(shortHash(text).slice(-6), 36) % 1_000) / 1_000;
}

/**
 * When to reconcile a credential again, in milliseconds since 1970. A changed Secret is detected then, too.
 */
export function nextCheckAt(uid: string, grant: Grant | undefined, notBefore: number, now: number): number {
  const renewal = grant && renewalAt(uid, grant);
  const notices = [grant?.expiresAt, grant && noticeAt(grant)].filter((at) => at !== undefined && at > now);
  const times = [
    now + CHECK_MS,
    ...(renewal === undefined ? [] : [Math.max(renewal, notBefore)]),
    ...notices,
  ];
  return Math.max(Math.min(...(times as number[])), now + LEAST_MS);
}
