/** Compares the Authorization header (RFC 9110, section 11.6.2) in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { singleHeader, type Caller, type Unverified } from './verifier.ts';

/** What follows the scheme's name, which is case-insensitive. */
export function readCredentials(caller: Caller, scheme: string): { value: string } | { fault: Unverified } {
  const header = singleHeader(caller, 'authorization');
  if ('fault' in header) return header;
  const space = header.value.indexOf(' ');
  if (space === -1 || header.value.slice(0, space).toLowerCase() !== scheme) return { fault: 'malformed' };
  return { value: header.value.slice(space).trim() };
}

/**
 * Whether the bytes equal one of the expected values. Compares digests, which have equal length, and always
 * all of them.
 */
export function createSecretMatcher(expected: readonly Uint8Array[]): (given: Uint8Array) => boolean {
  const digests = expected.map(sha256);
  return (given) => {
    const digest = sha256(given);
    let isOne = false;
    for (const known of digests) isOne = timingSafeEqual(known, digest) || isOne;
    return isOne;
  };
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
