import { expect, test } from 'vitest';
import { Secret } from '../../contract/secret.ts';
import { signedHeaders } from './signature.ts';

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "Examples: Signature
 * Calculations"
 */
const account = {
  region: 'us-east-1',
  accessKeyId: new Secret('AKIAIOSFODNN7EXAMPLE'),
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  now: new Date('2013-05-24T00:00:00Z'),
};

test.each<[Record<string, string>, string]>([
  [{ lifecycle: '' }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  [{ 'max-keys': '2', prefix: 'J' }, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  [{ prefix: 'J', 'max-keys': '2' }, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
])('a request with %o is signed as in the documentation', async (query, signature) => {
  const host = 'examplebucket.s3.amazonaws.com';
  expect(await signedHeaders({ ...account, method: 'GET', host, path: '/', query })).toEqual({
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
  });
});

test('a path is signed as it is sent, and nothing of it is resolved', async () => {
  const sign = (path: string) =>
    signedHeaders({ ...account, method: 'GET', host: 'examplebucket.s3.amazonaws.com', path });
  const signatures = await Promise.all(['/a/../b', '/b', '/a/%2E%2E/b', '/a//b'].map(sign));
  expect(new Set(signatures.map(({ authorization }) => authorization)).size).toBe(4);
});
