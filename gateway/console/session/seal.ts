/**
 * Values that a browser stores and can neither read nor change: compressed JSON as a compact JWE (RFC 7516),
 * encrypted directly with A256GCM. A value sealed for one `purpose` cannot be used for another; the purpose
 * is not secret.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { compactDecrypt, CompactEncrypt } from 'jose';

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const;
const ADMITTED = { keyManagementAlgorithms: [HEADER.alg], contentEncryptionAlgorithms: [HEADER.enc] };
/** Longer than any sealed value. */
const MOST_BYTES = 65_536;

/** The sealed value, short enough for a cookie. `key` has 32 bytes. */
export function sealValue(key: Buffer, value: object, purpose: string): Promise<string> {
  // Tokens are mostly base64 of JSON: compression saves a third.
  const text = deflateRawSync(JSON.stringify(value));
  return new CompactEncrypt(text).setProtectedHeader({ ...HEADER, typ: purpose }).encrypt(key);
}

/** The value; undefined if it was sealed otherwise or changed. */
export async function openValue(key: Buffer, sealed: string, purpose: string): Promise<unknown> {
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, key, ADMITTED);
    if (protectedHeader.typ !== purpose) return undefined;
    const json = inflateRawSync(plaintext, { maxOutputLength: MOST_BYTES }).toString('utf8');
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
