/** When a grant is renewed. Pure. */
import { shortHash } from '../../api/names.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { Grant } from './grant.ts';

/**
 * Runners read an access token again after a minute at the latest; this leaves a provider that is away some
 * time, too.
 */
const LONGEST_MARGIN_MS = 900_000;
/** Nobody reads tokens as often as that; a provider whose tokens end at once must not keep everybody busy. */
const LEAST_LIFE_MS = 30_000;
/** Where the provider does not say when a token ends. */
const ASSUMED_LIFE_MS = 3_600_000;
/** A person has to act: so long before the end, at most, is that told. */
const LONGEST_NOTICE_MS = 3 * 24 * 3_600_000;
const LOOK_MS = 300_000;
const LEAST_MS = 100;
const BACKOFF: Backoff = { initialMs: 2_000, factor: 2, maxMs: 300_000, jitter: 0.5 };

/**
 * When the grant should be renewed, in milliseconds since 1970: a quarter of its time before it ends, and up
 * to an eighth of it earlier, so that those that were made at once are not renewed at once. It is the same
 * each time for one grant. Where nobody knows when it ends (RFC 6749, section 5.1), as if that were after an
 * hour. Undefined: it is not renewed.
 */
export function renewalAt(uid: string, { expiresAt, obtainedAt, refreshToken }: Grant): number | undefined {
  if (refreshToken === undefined) return undefined;
  const lifeMs = expiresAt === undefined ? ASSUMED_LIFE_MS : expiresAt - obtainedAt;
  const marginMs = Math.min(lifeMs / 4, LONGEST_MARGIN_MS);
  const beforeMs = marginMs + (marginMs / 2) * fractionOf(`${uid} ${obtainedAt}`);
  return obtainedAt + Math.max(lifeMs - beforeMs, LEAST_LIFE_MS);
}

/**
 * From when on people are told that the access ends, in milliseconds since 1970: where nothing renews it a
 * quarter of its time before, three days at most; else when it should have been renewed for long. Undefined:
 * it does not end, or has been taken back.
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

/** After so many failures in a row: how long to wait. */
export function retryMs(failures: number): number {
  return backoffDelay(BACKOFF, failures);
}

/** A number from 0 to 1 that is the same for the same text. */
function fractionOf(text: string): number {
  return (Number.parseInt(shortHash(text).slice(-6), 36) % 1_000) / 1_000;
}

/**
 * When to look at a credential again, in milliseconds since 1970. A Secret that somebody changed is noticed
 * then, too.
 */
export function nextCheckAt(uid: string, grant: Grant | undefined, notBefore: number, now: number): number {
  const renewal = grant && renewalAt(uid, grant);
  const told = [grant?.expiresAt, grant && noticeAt(grant)].filter((at) => at !== undefined && at > now);
  const times = [now + LOOK_MS, ...(renewal === undefined ? [] : [Math.max(renewal, notBefore)]), ...told];
  return Math.max(Math.min(...(times as number[])), now + LEAST_MS);
}
