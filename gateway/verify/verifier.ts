/**
 * The interface of verifiers. A verifier checks the headers first, so that most invalid calls are refused
 * before their body is read, and then the raw bytes of the body.
 */
import type { Verification } from '../../api/route.ts';

/** Why verification failed. Only for metrics: every cause gets the same answer. */
export type Unverified = 'missing' | 'malformed' | 'stale' | 'mismatch';

/** A request as the HTTP parser read it: names and values alternate, duplicates included. */
export type Caller = { rawHeaders: readonly string[] };

/** The failure, or the check of the body. */
type Verdict = Unverified | ((body: Uint8Array) => boolean);

/** Verifies a request by its headers. `now` is in Unix seconds. */
export type Verifier = (caller: Caller, now: number) => Verdict;

export type Scheme = {
  /** The proof: a signature of the body, a secret that people chose and others can guess, or a random one. */
  proof: 'signature' | 'password' | 'random';
  /** Creates the verifier of a route. There is at least one key, and none is empty. */
  create: (settings: Verification, keys: readonly Uint8Array[]) => Verifier;
  /** The challenge of a 401, if HTTP defines one. */
  challenge?: string;
  /** The header that identifies the event, in lower case: equal for each delivery of it. */
  deliveryHeader?: string;
};

export type Header = { value: string } | { fault: Extract<Unverified, 'missing' | 'malformed'> };

/** A header that must occur exactly once; `name` is in lower case. */
export function singleHeader({ rawHeaders }: Caller, name: string): Header {
  let value: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== name) continue;
    if (value !== undefined) return { fault: 'malformed' };
    value = rawHeaders[at + 1] ?? '';
  }
  return value === undefined ? { fault: 'missing' } : { value };
}

/** For verifiers that need headers only. */
export const acceptAnyBody = (): boolean => true;
