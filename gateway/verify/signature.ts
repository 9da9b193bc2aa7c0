/**
 * HMACs (RFC 2104) over raw bytes, one for each secret that may have signed. All are computed and compared, in constant
 * time, whichever it was.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

export type Algorithm = 'sha256' | 'sha512' | 'sha1';
export type Encoding = 'hex' | 'base64';

const LENGTH: Record<Algorithm, number> = { sha256: 32, sha512: 64, sha1: 20 };
const HEX = /^[0-9a-f]+$/i;

/** Whether a signature is that of the parts, one after the other, under any of the keys. */
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

/** The bytes of a signature; undefined for a text that is not exactly the encoding of that many bytes. */
export function decodeSignature(text: string, algorithm: Algorithm, encoding: Encoding): Buffer | undefined {
  const length = LENGTH[algorithm];
  if (encoding === 'hex')
    return text.length === length * 2 && HEX.test(text) ? Buffer.from(text, 'hex') : undefined;
  const bytes = Buffer.from(text, 'base64');
  // Node decodes what it can; only the one right spelling of the bytes is a signature.
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

/** The bytes of a header's value, as they came over the wire. */
export function headerBytes(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

const DIGITS = /^[0-9]{1,12}$/;

export type Timed = 'fresh' | 'stale' | 'malformed';

/** How a time of signing stands to `now`, in Unix seconds. Exactly the tolerance away is fresh. */
export function checkTimestamp(text: string, now: number, toleranceSeconds: number): Timed {
  if (!DIGITS.test(text)) return 'malformed';
  return Math.abs(now - Number(text)) <= toleranceSeconds ? 'fresh' : 'stale';
}
