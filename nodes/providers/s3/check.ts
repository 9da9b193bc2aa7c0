/** Checks whether the bucket exists and the keys may use it (HeadBucket). The answer has no body. */
import { drop } from '../../http/body.ts';
import { echoesOf } from '../../contract/secret.ts';
import { ask, bucketOf } from './bucket.ts';
import { type Check, CheckError } from '../../contract/check.ts';
import { refusal } from '../../http/check.ts';

export const checkS3: Check = async (credential, context) => {
  const bucket = bucketOf(credential);
  const { region, name } = bucket;
  const answer = await ask(bucket, { method: 'HEAD' }, context);
  drop(answer);
  const { host, status, headers } = answer;
  if (status === 200) return { message: `${host} accepted the keys; the bucket ${name} exists.` };
  if (status === 404)
    throw new CheckError('Rejected', `${host} has no bucket ${name}: create it, or correct the name`);
  const place = headers['x-amz-bucket-region'] ?? '';
  if (/^[a-z0-9-]{1,64}$/.test(place) && place !== region)
    throw new CheckError(
      'Rejected',
      `the bucket ${name} is in the region ${place}: correct region and endpoint`,
    );
  if (status === 400)
    throw new CheckError('Rejected', `${host} refused the keys or the region ${region} with status 400`);
  const secrets = [bucket.accessKeyId, bucket.secretAccessKey].flatMap(echoesOf);
  throw refusal({ ...answer, json: undefined }, 'the keys, or their right to the bucket,', secrets);
};
