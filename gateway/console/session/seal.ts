/**
 * Values that a browser keeps for us and can neither read nor change: compressed JSON as a JWE in compact form (RFC 7516), encrypted
 * directly with A256GCM. `purpose` is not secret; what was sealed for one cannot be used for another.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { compactDecrypt, CompactEncrypt } from 'jose';

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const;
const ADMITTED = { keyManagementAlgorithms: [HEADER.alg], contentEncryptionAlgorithms: [HEADER.enc] };
/** More than any value that we seal. */
const MOST_BYTES = 65_536;

/** The value as text that fits a cookie. `key`: 32 bytes. */
export function sealValue(key: Buffer, value: object, purpose: string): Promise<string> {
  // A token is mostly base64 of JSON: uncompressed, a session would be a third longer.
  const text = deflateRawSync(JSON.stringify(value));
  return new CompactEncrypt(text).setProtectedHeader({ ...HEADER, typ: purpose }).encrypt(key);
}

/** The value, if it was sealed with this key for this purpose and nobody has changed it. */
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
