/**
 * The auth policy of a route: who may call it. It fails closed: without usable keys or settings, nobody may.
 */
import { schemeOf, verificationIn, type RouteSpec, type Verification } from '../../api/route.ts';
import type { KeyScheme } from '../../api/webhookAuth.ts';
import { SCHEMES } from './register.ts';
import type { Caller, Scheme, Unverified, Verifier } from './verifier.ts';

export type AuthPolicy =
  /** Anybody who knows the URL may call. */
  | { kind: 'public' }
  /** Callers cannot be verified: nobody may call. */
  | { kind: 'closed' }
  | ({ kind: 'verified'; verify: Verifier } & Pick<Scheme, 'proof' | 'challenge' | 'deliveryHeader'>);

/** The auth policy of a route, with the keys of its entry if known. */
export function authPolicyOf(
  { webhook, bot, chat }: Pick<RouteSpec, 'webhook' | 'bot' | 'chat'>,
  keys: readonly Uint8Array[] | undefined,
): AuthPolicy {
  if (bot !== undefined) return policyWith(bot.platform, bot.verify, keys);
  const verify = verificationIn({ webhook, chat });
  const scheme = schemeOf({ webhook, chat });
  if (scheme === undefined) return { kind: verify === undefined ? 'public' : 'closed' };
  return policyWith(scheme, verify, keys);
}

function policyWith(
  scheme: KeyScheme | undefined,
  verify: Verification | undefined,
  keys: readonly Uint8Array[] | undefined,
): AuthPolicy {
  const hasKeys = keys !== undefined && keys.length > 0 && keys.every((key) => key.length > 0);
  if (scheme === undefined || verify?.material === undefined || !hasKeys) return { kind: 'closed' };
  const { create, ...rest } = SCHEMES[scheme];
  return { kind: 'verified', verify: create(verify, keys), ...rest };
}

/** Verifying a signature of this length costs no more than refusing the call. */
const CHEAP_BYTES = 16_384;

/**
 * Whether failed calls must be limited: if the secret can be guessed, or much must be read and hashed.
 * `announced` is the body's length, undefined if unknown.
 */
export function limitsFailures(auth: AuthPolicy, announced: number | undefined): boolean {
  if (auth.kind !== 'verified' || auth.proof === 'random') return false;
  return auth.proof === 'password' || announced === undefined || announced > CHEAP_BYTES;
}

/** Why the caller is refused; `unavailable`: nobody can be verified. */
export type CallerRefusal = Unverified | 'unavailable';

/**
 * Verifies a caller by its headers, and by the body once it was read; undefined if nothing is wrong so far.
 */
export function checkCaller(auth: AuthPolicy, caller: Caller, body?: Uint8Array): CallerRefusal | undefined {
  if (auth.kind === 'public') return undefined;
  if (auth.kind === 'closed') return 'unavailable';
  const verdict = auth.verify(caller, Math.floor(Date.now() / 1_000));
  if (typeof verdict === 'string') return verdict;
  return body === undefined || verdict(body) ? undefined : 'mismatch';
}
