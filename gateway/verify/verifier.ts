/**
 * What a verifier is. It looks at the headers first, so that most of what is wrong is refused before a byte of the body
 * is kept, and then at the raw bytes of the body.
 */
import type { Verification } from '../../api/route.ts';

/** Why a caller is not verified. For the metrics alone: every cause has the same answer. */
export type Unverified = 'missing' | 'malformed' | 'stale' | 'mismatch';

/** A request as the HTTP parser left it: names and values in turn, also those that came twice. */
export type Caller = { rawHeaders: readonly string[] };

/** Why the headers are refused, or what the body must still pass. */
type Verdict = Unverified | ((body: Uint8Array) => boolean);

/** Judges a request by its headers. `now` is in Unix seconds. */
export type Verifier = (caller: Caller, now: number) => Verdict;

export type Scheme = {
  /** What proves the caller: a signature of the body, a secret that people chose and others can guess, or a random one. */
  proof: 'signature' | 'password' | 'random';
  /** Makes the verifier of a route. There is at least one key, and none is empty. */
  create: (settings: Verification, keys: readonly Uint8Array[]) => Verifier;
  /** The challenge of a 401, where HTTP has one for the scheme. */
  challenge?: string;
  /** The header that names the event, in lower case: the same in each delivery of it. */
  deliveryHeader?: string;
};

export type Header = { value: string } | { fault: Extract<Unverified, 'missing' | 'malformed'> };

/** A header that must be there once; `name` is in lower case. Of two nobody can tell which one counts. */
export function singleHeader({ rawHeaders }: Caller, name: string): Header {
  let value: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== name) continue;
    if (value !== undefined) return { fault: 'malformed' };
    value = rawHeaders[at + 1] ?? '';
  }
  return value === undefined ? { fault: 'missing' } : { value };
}

/** Whether the body still matters: what a header alone proves, no body can spoil. */
export const acceptAnyBody = (): boolean => true;
