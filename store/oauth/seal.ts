/**
 * Seals a short text so that only the holder of a private key can open it: a JWE in compact form (RFC 7516),
 * by ECDH-ES with an ephemeral X25519 key (RFC 8037) and A256GCM.
 */
import { compactDecrypt, CompactEncrypt, exportJWK, generateKeyPair, importJWK } from 'jose';

const HEADER = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;
const ADMITTED = { keyManagementAlgorithms: [HEADER.alg], contentEncryptionAlgorithms: [HEADER.enc] };
const CURVE = { kty: 'OKP', crv: 'X25519' } as const;

export type SealingKeys = {
  /** The public key as text. */
  publicKey: string;
  /** The text; undefined unless it was sealed to these keys for this purpose and is unchanged. */
  open(sealed: string, purpose: string): Promise<string | undefined>;
};

/** Creates a key pair. The private key never leaves this process. */
export async function createSealingKeys(): Promise<SealingKeys> {
  const { privateKey, publicKey } = await generateKeyPair(HEADER.alg, { crv: CURVE.crv });
  const { x = '' } = await exportJWK(publicKey);
  return {
    publicKey: x,
    open: async (sealed, purpose) => {
      try {
        const { plaintext, protectedHeader } = await compactDecrypt(sealed, privateKey, ADMITTED);
        return protectedHeader.typ === purpose ? Buffer.from(plaintext).toString('utf8') : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Seals the text for the holder of the private key. `purpose` is not secret; `open` needs the same one.
 * @throws Error when the public key is not valid
 */
export async function seal(publicKey: string, text: string, purpose: string): Promise<string> {
  const key = await importJWK({ ...CURVE, x: publicKey }, HEADER.alg);
  return new CompactEncrypt(Buffer.from(text, 'utf8'))
    .setProtectedHeader({ ...HEADER, typ: purpose })
    .encrypt(key);
}
