/**
 * Requests to a bucket of an S3-compatible service
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html), and what its errors mean. Messages contain
 * no key.
 */
import { isHeaderValue } from '../../../api/headers.ts';
import { StepError } from '../../../api/reasons.ts';
import { partOf, type CredentialAccess, type Wire } from '../../contract/node.ts';
import { echoesOf, type Secret } from '../../contract/secret.ts';
import { drop, readStart } from '../../http/body.ts';
import { send, statusFailure } from '../../http/client.ts';
import type { Failure, FailureKind } from '../../contract/failure.ts';
import type { HttpAnswer, HttpRequest } from '../../http/request.ts';
import { encoded, queryText, signedHeaders } from './signature.ts';
import { parseXml, textIn } from './xml.ts';

export type Bucket = {
  name: string;
  region: string;
  /** Scheme, host and port. */
  origin: string;
  /** The path of the bucket: empty, or without a slash at its end. */
  base: string;
  accessKeyId: Secret;
  secretAccessKey: Secret;
};

const DEFAULT_REGION = 'us-east-1';
const ERROR_LIMIT = 65_536;
const LIMITED = /^(SlowDown|TooManyRequests|RequestLimitExceeded)/;
/** Some services answer with another status than 403. */
const WRONG_KEYS = /^InvalidAccessKeyId|^SignatureDoesNotMatch|UserNotFound$/;

/**
 * The bucket of a credential.
 * @throws StepError `InvalidParameters`, `CredentialMissing`, `CredentialRejected`
 */
export function bucketOf(credential: CredentialAccess): Bucket {
  const s3 = partOf(credential, 's3');
  const { endpoint, bucket, region = DEFAULT_REGION, pathStyle = true } = s3;
  if (!URL.canParse(endpoint))
    throw new StepError('InvalidParameters', `endpoint of the credential ${credential.name} is not a URL`);
  const { protocol, host, pathname } = new URL(endpoint);
  const below = pathname.replace(/\/+$/, '');
  const accessKeyId = credential.secret(s3.accessKeyIdRef);
  if (!isHeaderValue(accessKeyId.reveal()))
    throw new StepError('CredentialRejected', 'the access key id holds a character that headers cannot hold');
  return {
    name: bucket,
    region,
    origin: `${protocol}//${pathStyle ? '' : `${bucket}.`}${host}`,
    base: pathStyle ? `${below}/${encoded(bucket)}` : below,
    accessKeyId,
    secretAccessKey: credential.secret(s3.secretAccessKeyRef),
  };
}

type Asking = Pick<HttpRequest, 'method'> & {
  /** The object; left out: the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
};

/** Sends a signed request. Every status is an answer. */
export async function ask(
  bucket: Bucket,
  { key, query = {}, ...asking }: Asking,
  wire: Wire,
): Promise<HttpAnswer> {
  const { origin } = bucket;
  if (key !== undefined && leadsElsewhere(key))
    throw new StepError('InvalidParameters', 'the key of an object holds . or .. between slashes');
  const path = pathOf(bucket, key);
  const { host } = new URL(origin);
  const signed = await signedHeaders({ ...bucket, ...asking, host, path, query, now: new Date() });
  const text = queryText(query);
  return send(
    {
      ...asking,
      origin,
      path: text === '' ? path : `${path}?${text}`,
      headers: { ...asking.headers, ...signed },
    },
    wire,
  );
}

/**
 * Whether a part of the key is `.` or `..`: a program on the way may resolve it, so that the path names
 * another object or bucket.
 */
export function leadsElsewhere(key: string): boolean {
  return key.split('/').some((each) => each === '.' || each === '..');
}

function pathOf({ base }: Bucket, key = ''): string {
  return `${base}/${key.split('/').map(encoded).join('/')}`;
}

/**
 * The address of an object, for people and programs that may read it; null for a key that an address cannot
 * hold.
 */
export function urlOf(bucket: Bucket, key: string): string | null {
  if (leadsElsewhere(key)) return null;
  return bucket.origin + pathOf(bucket, key);
}

/**
 * The error of an answer that is no success.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export async function refusal(bucket: Bucket, answer: HttpAnswer): Promise<Failure> {
  const text = (await readStart(answer, ERROR_LIMIT)).toString('utf8');
  const error = parseXml(text);
  const code = textIn(error, 'Code') ?? '';
  const secrets = [bucket.accessKeyId, bucket.secretAccessKey].flatMap(echoesOf);
  const message = textIn(error, 'Message') ?? `status ${answer.status}`;
  const place = answer.headers['x-amz-bucket-region'] ?? textIn(error, 'Region') ?? '';
  const [kind, problem] = judge(bucket, answer, { code, place });
  return statusFailure(answer, kind, problem, { text: `${code} ${message}`.trim(), secrets });
}

function judge(
  { name }: Bucket,
  { status, host }: HttpAnswer,
  { code, place }: { code: string; place: string },
): [FailureKind, string] {
  if (isElsewhere(status, code))
    return [
      'Rejected',
      `the bucket ${name} is in another region: correct region and endpoint${shownRegion(place)}`,
    ];
  if (status === 429 || LIMITED.test(code)) return ['RateLimited', `${host} limits the rate of requests`];
  if (code === 'RequestTimeTooSkewed')
    return ['Rejected', `the clocks of ${host} and of this cluster differ by more than 15 minutes`];
  if (status === 401 || status === 403 || WRONG_KEYS.test(code))
    return ['Rejected', `${host} refused the keys, or their right to the bucket ${name}`];
  if (code === 'NoSuchBucket') return ['Missing', `${host} has no bucket ${name}`];
  if (status === 404) return ['Missing', `${host} has nothing there`];
  if (status >= 500) return ['UpstreamError', `${host} failed`];
  return ['Refused', `${host} answered with status ${status}`];
}

function isElsewhere(status: number, code: string): boolean {
  return (status >= 300 && status < 400) || /^(AuthorizationHeaderMalformed|PermanentRedirect)$/.test(code);
}

function shownRegion(place: string): string {
  return /^[a-z0-9-]{1,64}$/.test(place) ? ` (${place})` : '';
}

export type ObjectHead = { type: string | null };

/**
 * Reads what the list of objects does not have. Undefined if the object is gone. The type is null where it
 * cannot be read: the account may list and not read (a failure with `mustTell`), the customer has encrypted
 * the object (400), or no address can hold its key. So one such object does not stop the others.
 * @throws Failure
 */
export async function headOf(
  bucket: Bucket,
  key: string,
  wire: Wire,
  mustTell: boolean,
): Promise<ObjectHead | undefined> {
  if (leadsElsewhere(key)) return { type: null };
  const answer = await ask(bucket, { method: 'HEAD', key }, wire);
  const { status, headers } = answer;
  const type = status === 200 ? typeIn(headers) : null;
  const isHidden = status === 400 || (status === 403 && !mustTell);
  if (status !== 200 && status !== 404 && !isHidden) throw await refusal(bucket, answer);
  drop(answer);
  return status === 404 ? undefined : { type };
}

/** Without the charset and the like. */
export function typeIn(headers: HttpAnswer['headers']): string | null {
  return headers['content-type']?.split(';', 1)[0]?.trim() || null;
}
