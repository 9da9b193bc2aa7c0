/** Files of a bucket, at a real S3 server. */
import { ask, bucketOf } from '../../../nodes/providers/s3/bucket.ts';
import { drop } from '../../../nodes/http/body.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { startS3Server } from '../providers/s3/s3Server.ts';
import { localEgress } from '../nodes/stepContext.ts';
import { startHttpProxy, type Refusal } from './httpProxy.ts';
import type { Account, Driver } from './provider.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const CODE: Readonly<Record<number, string>> = {
  401: 'InvalidAccessKeyId',
  403: 'AccessDenied',
  404: 'NoSuchBucket',
  410: 'MethodNotAllowed',
  429: 'SlowDown',
  503: 'ServiceUnavailable',
};
const refusal: Refusal = (status) => ({
  type: 'application/xml',
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${CODE[status]}</Code><Message>refused with ${status}</Message></Error>`,
});

/** Several pages of a list, of which some are modified then. */
const LARGE_OBJECTS = 1_200;
const MODIFIED_OBJECTS = 300;
const AT_ONCE = 16;

/** Puts so many objects there, or other content into them. */
async function putMany(put: (key: string) => Promise<void>, count: number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const keys = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, n) => `large/${first + n}`);
    await Promise.all(keys.map((key) => put(key)));
  }
}

export const s3Driver: Driver = {
  title: 'files of a bucket',
  kind: 'fileStorage',
  credential: 's3',
  faults: {
    unauthorized: { reasons: ['Rejected'] },
    // Of a file nothing is asked but its type: it is shown without one.
    forbidden: { reasons: ['Rejected'], firstRequestOnly: true },
    // Of a file: it is gone.
    notFound: { reasons: ['FolderMissing'], firstRequestOnly: true },
    gone: { reasons: ['InvalidAnswer', 'UpstreamError'] },
    tooManyRequests: { reasons: ['RateLimited'] },
    unavailable: { reasons: ['UpstreamError', 'RateLimited'] },
    silence: { reasons: ['Timeout'] },
    lost: { reasons: ['Unreachable'] },
    garbage: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
    endless: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
  },
  saysWhen: true,
  nameOf: ({ text_content }) => text_content,
  start: async () => {
    const server = await startS3Server();
    const secrets = { id: server.accessKeyId, secret: server.secretAccessKey };
    let buckets = 0;
    const specAt = (endpoint: string, bucket: string) => ({
      s3: {
        endpoint,
        bucket,
        accessKeyIdRef: { name: 'files', key: 'id' },
        secretAccessKeyRef: { name: 'files', key: 'secret' },
      },
    });
    return {
      account: async (): Promise<Account> => {
        const name = `orders-${(buckets += 1)}`;
        await server.makeBucket(name);
        const proxy = await startHttpProxy(server.url, refusal);
        const bucket = bucketOf({
          name: 'files',
          spec: specAt(server.url, name),
          secret: ({ key }) => new Secret(key === 'id' ? secrets.id : secrets.secret),
        });
        let puts = 0;
        const put = async (key: string): Promise<void> => {
          const wire = { egress: localEgress, signal: AbortSignal.timeout(10_000) };
          const body = Buffer.from(`${key} ${(puts += 1)}`);
          const answer = await ask(bucket, { method: 'PUT', key, body }, wire);
          drop(answer);
          if (answer.status !== 200) throw new Error(`the S3 server answered with ${answer.status}`);
        };
        return {
          spec: specAt(`http://127.0.0.1:${proxy.port}`, name),
          secrets,
          proxy,
          add: put,
          change: put,
          large: {
            fill: () => putMany(put, LARGE_OBJECTS),
            burst: async () => {
              await putMany(put, MODIFIED_OBJECTS);
              return MODIFIED_OBJECTS;
            },
          },
          close: () => proxy.close(),
        };
      },
      stop: () => server.close(),
    };
  },
};
