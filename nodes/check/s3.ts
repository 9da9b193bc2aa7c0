/** Asks whether the bucket is there and may be used (HeadBucket). The answer has no body, so that the status says it all. */
import { isHeaderValue } from '../../api/headers.ts';
import type { CredentialSpec } from '../../api/credential.ts';
import { partOf } from '../node.ts';
import { echoesOf } from '../secret.ts';
import { ask, refusal } from './ask.ts';
import { CheckError, type Check } from './check.ts';
import { DEFAULT_REGION } from '../files/s3.ts';
import { signedHeaders } from '../files/signature.ts';

export const checkS3: Check = async (credential, context) => {
  const s3 = partOf(credential, 's3');
  const { region = DEFAULT_REGION, bucket, accessKeyIdRef, secretAccessKeyRef } = s3;
  const accessKeyId = credential.secret(accessKeyIdRef);
  const secretAccessKey = credential.secret(secretAccessKeyRef);
  if (!isHeaderValue(accessKeyId.reveal()))
    throw new CheckError('Rejected', 'the access key id holds a character that headers cannot hold');
  const url = urlOf(s3);
  const now = new Date();
  const headers = signedHeaders({
    method: 'HEAD',
    host: url.host,
    path: url.pathname,
    region,
    accessKeyId,
    secretAccessKey,
    now,
  });
  const answer = await ask({ url, method: 'HEAD', headers }, context);
  const { host, status } = answer;
  if (status === 200) return { message: `${host} took the keys, and the bucket ${bucket} is there.` };
  if (status === 404)
    throw new CheckError('Rejected', `${host} has no bucket ${bucket}: make it, or correct the name`);
  const place = answer.headers.get('x-amz-bucket-region') ?? '';
  if (/^[a-z0-9-]{1,64}$/.test(place) && place !== region)
    throw new CheckError(
      'Rejected',
      `the bucket ${bucket} lies in the region ${place}: correct region and endpoint`,
    );
  if (status === 400)
    throw new CheckError('Rejected', `${host} refused the keys or the region ${region} with status 400`);
  throw refusal(
    answer,
    'the keys, or their right to the bucket,',
    [accessKeyId, secretAccessKey].flatMap(echoesOf),
  );
};

function urlOf({ endpoint, bucket, pathStyle = true }: NonNullable<CredentialSpec['s3']>): URL {
  if (!URL.canParse(endpoint)) throw new CheckError('Rejected', 'endpoint is no URL: correct it');
  const url = new URL(endpoint);
  const base = url.pathname.replace(/\/+$/, '');
  if (pathStyle) url.pathname = `${base}/${encodeURIComponent(bucket)}`;
  else url.hostname = `${bucket}.${url.hostname}`;
  return url;
}
