/** Puts objects into a bucket of an S3-compatible server, as whoever has its keys. */
import { ask, bucketOf } from '../../../../nodes/providers/s3/bucket.ts';
import { drop } from '../../../../nodes/http/body.ts';
import { Secret } from '../../../../nodes/contract/secret.ts';
import { localEgress } from '../../nodes/stepContext.ts';

export type BucketAccess = { endpoint: string; bucket: string; id: string; secret: string };

/** Throws where it is not taken. */
export async function putObject(
  { endpoint, bucket, ...keys }: BucketAccess,
  object: { key: string; body: string; type: string },
): Promise<void> {
  const ref = (key: keyof typeof keys) => ({ name: 'keys', key });
  const s3 = { endpoint, bucket, accessKeyIdRef: ref('id'), secretAccessKeyRef: ref('secret') };
  const access = {
    name: 'keys',
    spec: { s3 },
    secret: ({ key }: { key: string }) => new Secret(keys[key as 'id']),
  };
  const { key, body, type } = object;
  const answer = await ask(
    bucketOf(access),
    { method: 'PUT', key, body: Buffer.from(body), headers: { 'content-type': type } },
    { egress: localEgress, signal: AbortSignal.timeout(10_000) },
  );
  drop(answer);
  if (answer.status !== 200) throw new Error(`the S3 server answered with ${answer.status}`);
}
