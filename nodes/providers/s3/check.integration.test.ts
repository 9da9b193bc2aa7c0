/** Checks of buckets. */
import { expect, test } from 'vitest';
import { check, KEY, ref, WRONG, startProvider } from '../../../test/support/nodes/credentialCheck.ts';
import type { Handler } from '../../../test/support/nodes/httpTarget.ts';
import { Secret } from '../../contract/secret.ts';
import { signedHeaders } from './signature.ts';

const side = await startProvider();
const s3 = (changes: object = {}) => ({
  s3: {
    endpoint: side.url,
    bucket: 'orders',
    accessKeyIdRef: ref('id'),
    secretAccessKeyRef: ref('secret'),
    ...changes,
  },
});

/** Answers a HeadBucket as the store does: whoever signs with another key is 403, another bucket is 404. */
const store: Handler = (request, response) => void answer(request, response);

const answer = async (...[request, response]: Parameters<Handler>) => {
  const date = String(request.headers['x-amz-date']);
  const now = new Date(date.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'));
  const signed = await signedHeaders({
    method: 'HEAD',
    host: request.headers.host ?? '',
    path: request.url ?? '',
    region: 'us-east-1',
    accessKeyId: new Secret('ID'),
    secretAccessKey: new Secret(KEY),
    now,
  });
  const isSigned = signed['authorization'] === request.headers.authorization;
  const isThere = request.method === 'HEAD' && request.url === '/orders/';
  response.writeHead(isSigned ? (isThere ? 200 : 404) : 403).end();
};

test('a bucket is asked for with a signed request', async () => {
  side.handle(store);
  expect(await check(s3(), { id: 'ID' })).toMatchObject({ works: true });
  expect(side.seen).toEqual(['HEAD /orders/']);
});

test('a bucket with wrong keys, a wrong name or a wrong region is Rejected', async () => {
  side.handle(store);
  expect(await check(s3(), { id: 'ID', secret: 'other' })).toMatchObject(WRONG);
  const missing = await check(s3({ bucket: 'missing' }), { id: 'ID' });
  expect(missing).toMatchObject(WRONG);
  expect(missing.message).toContain('has no bucket missing');
  side.answer(301, {}, { 'x-amz-bucket-region': 'eu-west-1' });
  expect((await check(s3(), { id: 'ID' })).message).toContain('is in the region eu-west-1');
});

test('a bucket in the host name is asked for there', async () => {
  const result = await check(s3({ endpoint: 'http://s3.test:9000', pathStyle: false }), { id: 'ID' });
  expect(result.message).toContain('orders.s3.test');
});
