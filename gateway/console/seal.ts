/**
 * Values that a browser keeps for us and can neither read nor change: AES-256-GCM over compressed JSON. `purpose` is not secret; what
 * was sealed for one cannot be used for another.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** More than any value that we seal. */
const MOST_BYTES = 65_536;

/** The value as text that fits a cookie. */
export function sealValue(key: Buffer, value: object, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose, 'utf8'));
  // A token is mostly base64 of JSON: uncompressed, a session would be a third longer.
  const text = deflateRawSync(JSON.stringify(value));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

/** The value, if it was sealed with this key for this purpose and nobody has changed it. */
export function openValue(key: Buffer, sealed: string, purpose: string): unknown {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(purpose, 'utf8')).setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
    const json = inflateRawSync(Buffer.concat(text), { maxOutputLength: MOST_BYTES }).toString('utf8');
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
