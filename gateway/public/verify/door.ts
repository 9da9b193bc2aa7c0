/**
 * How a route lets callers in. It fails closed: what cannot be verified, for want of a secret or of settings that make
 * sense, is let in by nobody.
 */
import type { RouteSpec } from '../../../api/route.ts';
import { EXPOSED } from '../../../api/webhookAuth.ts';
import { SCHEMES } from './register.ts';
import type { Caller, Scheme, Unverified, Verifier } from './verifier.ts';

export type Door =
  /** Anybody who knows the URL may call. */
  | { kind: 'open' }
  /** Callers cannot be verified, so that nobody may. */
  | { kind: 'closed' }
  | ({ kind: 'guarded'; verify: Verifier } & Pick<Scheme, 'challenge' | 'deliveryHeader'>);

/** The door of a webhook, with the keys that its entry has, if they are known. */
export function doorOf(webhook: RouteSpec['webhook'], keys: readonly Uint8Array[] | undefined): Door {
  const { access = EXPOSED, verify } = webhook ?? {};
  if (access === EXPOSED) return { kind: verify === undefined ? 'open' : 'closed' };
  const hasKeys = keys !== undefined && keys.length > 0 && keys.every((key) => key.length > 0);
  if (verify?.material === undefined || !hasKeys) return { kind: 'closed' };
  const { create, ...scheme } = SCHEMES[access];
  return { kind: 'guarded', verify: create(verify, keys), ...scheme };
}

/** Why nobody, or not this caller, is let in; undefined if nothing speaks against it so far. */
export type Stopped = Unverified | 'unavailable';

/** Judges a caller by the headers, and by the body as soon as that is there. */
export function stopAt(door: Door, caller: Caller, body?: Uint8Array): Stopped | undefined {
  if (door.kind === 'open') return undefined;
  if (door.kind === 'closed') return 'unavailable';
  const verdict = door.verify(caller, Math.floor(Date.now() / 1_000));
  if (typeof verdict === 'string') return verdict;
  return body === undefined || verdict(body) ? undefined : 'mismatch';
}
