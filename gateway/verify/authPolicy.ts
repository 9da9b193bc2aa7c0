/**
 * How a route lets callers in. It fails closed: what cannot be verified, for want of a secret or of settings that make
 * sense, is let in by nobody.
 */
import { schemeOf, type RouteSpec, type Verification } from '../../api/route.ts';
import type { KeyScheme } from '../../api/webhookAuth.ts';
import { SCHEMES } from './register.ts';
import type { Caller, Scheme, Unverified, Verifier } from './verifier.ts';

export type AuthPolicy =
  /** Anybody who knows the URL may call. */
  | { kind: 'public' }
  /** Callers cannot be verified, so that nobody may. */
  | { kind: 'closed' }
  | ({ kind: 'verified'; verify: Verifier } & Pick<Scheme, 'proof' | 'challenge' | 'deliveryHeader'>);

/** The auth of a route's URL, with the keys that its entry has, if they are known. */
export function authPolicyOf(
  { webhook, bot }: Pick<RouteSpec, 'webhook' | 'bot'>,
  keys: readonly Uint8Array[] | undefined,
): AuthPolicy {
  if (bot !== undefined) return policyWith(bot.platform, bot.verify, keys);
  const verify = webhook?.verify;
  const scheme = schemeOf({ webhook });
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

/** To verify a signature of so much costs no more than to refuse the call. */
const CHEAP_BYTES = 16_384;

/**
 * Whether calls that fail must be bounded: where a secret can be guessed, and where much must be read and hashed. `announced` is the
 * length of the body by its header; undefined: it is not said.
 */
export function limitsFailures(auth: AuthPolicy, announced: number | undefined): boolean {
  if (auth.kind !== 'verified' || auth.proof === 'random') return false;
  return auth.proof === 'password' || announced === undefined || announced > CHEAP_BYTES;
}

/** Why nobody, or not this caller, is let in; undefined if nothing speaks against it so far. */
export type CallerRefusal = Unverified | 'unavailable';

/** Judges a caller by the headers, and by the body as soon as that is there. */
export function checkCaller(auth: AuthPolicy, caller: Caller, body?: Uint8Array): CallerRefusal | undefined {
  if (auth.kind === 'public') return undefined;
  if (auth.kind === 'closed') return 'unavailable';
  const verdict = auth.verify(caller, Math.floor(Date.now() / 1_000));
  if (typeof verdict === 'string') return verdict;
  return body === undefined || verdict(body) ? undefined : 'mismatch';
}
