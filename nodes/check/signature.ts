/**
 * Signs requests to S3-compatible services: Signature Version 4 in the Authorization header
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '../secret.ts';

export type Signing = {
  method: string;
  url: URL;
  region: string;
  accessKeyId: Secret;
  secretAccessKey: Secret;
  now: Date;
};

const SIGNED = 'host;x-amz-content-sha256;x-amz-date';

/** The headers that a request without a body is sent with. */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { method, url, region, accessKeyId, secretAccessKey, now } = signing;
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const content = sha256('');
  const headers = `host:${url.host}\nx-amz-content-sha256:${content}\nx-amz-date:${time}\n`;
  const canonical = [method, url.pathname, queryOf(url), headers, SIGNED, content].join('\n');
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

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .toSorted()
    .join('&');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
