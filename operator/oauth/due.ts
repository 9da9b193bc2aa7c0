/** When a grant is renewed. Pure. */
import { shortHash } from '../../api/names.ts';
import { backoffDelay, type Backoff } from '../../kube/backoff.ts';
import type { Grant } from './grant.ts';

/** Runners read an access token again after a minute at the latest; this leaves a provider that is away some time, too. */
const LONGEST_MARGIN_MS = 900_000;
const LOOK_MS = 300_000;
const LEAST_MS = 100;
const BACKOFF: Backoff = { initialMs: 2_000, factor: 2, maxMs: 300_000, jitter: 0.5 };

/**
 * When the grant should be renewed, in milliseconds since 1970: a quarter of its time before it ends, and up to an eighth of it
 * earlier, so that those that were made at once are not renewed at once. It is the same each time for one grant. Undefined:
 * it is not renewed.
 */
export function renewalAt(uid: string, grant: Grant): number | undefined {
  const { expiresAt, obtainedAt, refreshToken } = grant;
  if (expiresAt === undefined || refreshToken === undefined) return undefined;
  const marginMs = Math.min((expiresAt - obtainedAt) / 4, LONGEST_MARGIN_MS);
  return expiresAt - marginMs - (marginMs / 2) * fractionOf(`${uid} ${obtainedAt}`);
}

/** After so many failures in a row: how long to wait. */
export function retryMs(failures: number): number {
  return backoffDelay(BACKOFF, failures);
}

/** A number from 0 to 1 that is the same for the same text. */
function fractionOf(text: string): number {
  return (Number.parseInt(shortHash(text).slice(-6), 36) % 1_000) / 1_000;
}

/** When to look at a credential again, in milliseconds since 1970. A Secret that somebody changed is noticed then, too. */
export function nextLookAt(uid: string, grant: Grant | undefined, notBefore: number, now: number): number {
  const renewal = grant && renewalAt(uid, grant);
  const times = [
    now + LOOK_MS,
    ...(renewal === undefined ? [] : [Math.max(renewal, notBefore)]),
    ...(grant?.expiresAt !== undefined && grant.expiresAt > now ? [grant.expiresAt] : []),
  ];
  return Math.max(Math.min(...times), now + LEAST_MS);
}
