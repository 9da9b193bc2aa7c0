/**
 * Signs requests to S3-compatible services: Signature Version 4 in the Authorization header
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Secret } from '../../contract/secret.ts';

export type Signing = {
  method: string;
  host: string;
  /** As it is sent: every segment encoded by `encoded`, and nothing of it resolved. */
  path: string;
  query?: Readonly<Record<string, string>>;
  region: string;
  accessKeyId: Secret;
  secretAccessKey: Secret;
  now: Date;
  /** Left out: the request has none. */
  body?: Buffer;
};

/** The headers of the signature, to be sent beside those that are not signed. */
export async function signedHeaders(signing: Signing): Promise<Record<string, string>> {
  const { method, host, path, query = {}, region, accessKeyId, secretAccessKey, now, body } = signing;
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() },
    sha256: Sha256,
    // S3 signs the path as it is sent. Otherwise `..` would be resolved, and another object be signed than
    // the one that is meant.
    uriEscapePath: false,
  });
  const request = { method, protocol: 'https:', hostname: host, path, query, headers: { host }, body };
  const { headers } = await signer.sign({ ...request, query: { ...query } }, { signingDate: now });
  const { host: _, ...added } = headers;
  return added;
}

/** SHA-256 of Node.js as the library takes it; with a secret, the HMAC. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('the library does not reuse hashes');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** A query as it is signed and sent: in the order of its names, which differ. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map((pair) => pair.map(encoded).join('='))
    .toSorted()
    .join('&');
}

/**
 * Escapes everything but letters, digits and `-._~` (RFC 3986 section 2.3), which is more than
 * `encodeURIComponent` escapes.
 */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
