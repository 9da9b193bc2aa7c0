/**
 * HMACs (RFC 2104) over raw bytes. All keys are computed and compared in constant time, whichever matches.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

export type Algorithm = 'sha256' | 'sha512' | 'sha1';
export type Encoding = 'hex' | 'base64';

const LENGTH: Record<Algorithm, number> = { sha256: 32, sha512: 64, sha1: 20 };
const HEX = /^[0-9a-f]+$/i;

/** Whether one of the signatures matches the concatenated parts under one of the keys. */
export type SignatureCheck = (signatures: readonly Buffer[], parts: readonly Uint8Array[]) => boolean;

export function createSignatureCheck(algorithm: Algorithm, keys: readonly Uint8Array[]): SignatureCheck {
  const secrets = keys.map((key) => createSecretKey(key));
  return (signatures, parts) => {
    let isSigned = false;
    for (const secret of secrets) {
      const hmac = createHmac(algorithm, secret);
      for (const part of parts) hmac.update(part);
      const expected = hmac.digest();
      for (const signature of signatures)
        isSigned = (signature.length === expected.length && timingSafeEqual(signature, expected)) || isSigned;
    }
    return isSigned;
  };
}

/** The bytes of a signature; undefined if the text is not the exact encoding of that many bytes. */
export function decodeSignature(text: string, algorithm: Algorithm, encoding: Encoding): Buffer | undefined {
  const length = LENGTH[algorithm];
  if (encoding === 'hex')
    return text.length === length * 2 && HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  const bytes = Buffer.from(text, 'base64');
  // Node also decodes invalid base64. Only the canonical encoding is a signature.
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

/** The raw bytes of a header's value. */
export function headerBytes(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

const DIGITS = /^[0-9]{1,12}$/;

export type Timed = 'fresh' | 'stale' | 'malformed';

/**
 * Checks the time of signing against `now`, in Unix seconds. A difference of exactly the tolerance is fresh.
 */
export function checkTimestamp(text: string, now: number, toleranceSeconds: number): Timed {
  if (!DIGITS.test(text)) return 'malformed';
  return Math.abs(now - Number(text)) <= toleranceSeconds ? 'fresh' : 'stale';
}
