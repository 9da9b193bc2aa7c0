/**
 * Signs requests to S3-compatible services: Signature Version 4 in the Authorization header
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '../../secret.ts';

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

const SIGNED = 'host;x-amz-content-sha256;x-amz-date';

/** The headers that a request is sent with, beside those that are not signed. */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { method, host, path, query = {}, region, accessKeyId, secretAccessKey, now } = signing;
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const content = sha256(signing.body ?? '');
  const headers = `host:${host}\nx-amz-content-sha256:${content}\nx-amz-date:${time}\n`;
  const canonical = [method, path, queryText(query), headers, SIGNED, content].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey.reveal()}`);
  const credential = [accessKeyId.reveal(), ...scope].join('/');
  const signature = hmac(key, toSign).toString('hex');
  return {
    'x-amz-content-sha256': content,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${SIGNED},Signature=${signature}`,
  };
}

/** A query as it is signed and sent: in the order of its names, which differ. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map((pair) => pair.map(encoded).join('='))
    .toSorted()
    .join('&');
}

/** Everything is escaped but letters, digits and `-._~` (RFC 3986 section 2.3), which is less than the language leaves as it is. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
