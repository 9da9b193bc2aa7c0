/**
 * Seals a short text so that only the holder of a private key can open it: an ephemeral X25519 key agreement, HKDF-SHA256 and
 * AES-256-GCM, in the manner of HPKE's base mode (RFC 9180). Each text has a key of its own, so that the nonce may be constant.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const INFO = 'windlass sealed code 1';
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const NONCE = Buffer.alloc(12);

export type SealingKeys = {
  /** The public key as text, for whoever seals. */
  publicKey: string;
  /** The text, if it was sealed to these keys for this purpose and nobody has changed it. */
  open(sealed: string, purpose: string): string | undefined;
};

/** New keys. The private one never leaves this process. */
export function createSealingKeys(): SealingKeys {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const own = rawOf(publicKey);
  return {
    publicKey: own.toString('base64url'),
    open: (sealed, purpose) => {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < KEY_BYTES + TAG_BYTES) return undefined;
      const ephemeral = bytes.subarray(0, KEY_BYTES);
      try {
        const shared = diffieHellman({ privateKey, publicKey: keyOf(ephemeral) });
        const decipher = createDecipheriv(CIPHER, derived(shared, ephemeral, own), NONCE);
        decipher.setAAD(Buffer.from(purpose, 'utf8')).setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(KEY_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * The text, for the holder of the private key alone. `purpose` is not secret; who opens it must name the same one.
 * @throws Error when the key is none
 */
export function seal(publicKey: string, text: string, purpose: string): string {
  const recipient = Buffer.from(publicKey, 'base64url');
  const pair = generateKeyPairSync('x25519');
  const ephemeral = rawOf(pair.publicKey);
  const shared = diffieHellman({ privateKey: pair.privateKey, publicKey: keyOf(recipient) });
  const cipher = createCipheriv(CIPHER, derived(shared, ephemeral, recipient), NONCE);
  cipher.setAAD(Buffer.from(purpose, 'utf8'));
  const box = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([ephemeral, box]).toString('base64url');
}

/** Both public keys take part, so that a key belongs to this text and this recipient. */
function derived(shared: Buffer, ephemeral: Buffer, recipient: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([ephemeral, recipient]), INFO, KEY_BYTES));
}

function rawOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

function keyOf(raw: Buffer): KeyObject {
  const x = raw.toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}
