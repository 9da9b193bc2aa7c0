/**
 * A bucket of an S3-compatible service (https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html). Every failure is a Refusal or a
 * StepError, in words that hold no key.
 */
import { isHeaderValue } from '../../api/headers.ts';
import { StepError } from '../../api/reasons.ts';
import { partOf, quoted, type CredentialAccess } from '../node.ts';
import { echoesOf, type Secret } from '../secret.ts';
import { Refusal, type RefusalKind } from './refusal.ts';
import { drop, readUpTo, send, type Incoming, type Outgoing, type Wire } from './request.ts';
import { encoded, queryText, signedHeaders } from './signature.ts';
import { elementOf, textIn } from './xml.ts';

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

export const DEFAULT_REGION = 'us-east-1';
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
    throw new StepError('InvalidParameters', `endpoint of the credential ${credential.name} is no URL`);
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

type Asking = Pick<Outgoing, 'method'> & {
  /** The object; left out: the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
};

/** Asks, and leaves the judgement of the status to the caller. */
export function ask(bucket: Bucket, { key, query = {}, ...asking }: Asking, wire: Wire): Promise<Incoming> {
  const { origin } = bucket;
  if (key !== undefined && leadsElsewhere(key))
    throw new StepError('InvalidParameters', 'the key of an object holds . or .. between slashes');
  const path = pathOf(bucket, key);
  const { host } = new URL(origin);
  const signed = signedHeaders({ ...bucket, ...asking, host, path, query, now: new Date() });
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

/** Whether a part of the key is `.` or `..`: a program on the way may resolve it, so that the path names another object or bucket. */
export function leadsElsewhere(key: string): boolean {
  return key.split('/').some((each) => each === '.' || each === '..');
}

function pathOf({ base }: Bucket, key = ''): string {
  return `${base}/${key.split('/').map(encoded).join('/')}`;
}

/** The address of an object, for people and programs that may read it; null for a key that an address cannot hold. */
export function urlOf(bucket: Bucket, key: string): string | null {
  if (leadsElsewhere(key)) return null;
  return bucket.origin + pathOf(bucket, key);
}

/** The error of an answer that is no success. https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
export async function refusal(bucket: Bucket, answer: Incoming, wire: Wire): Promise<Refusal> {
  const text = (await readUpTo(answer, ERROR_LIMIT, wire).catch(() => undefined))?.toString('utf8') ?? '';
  const error = elementOf(text, 'Error') ?? '';
  const code = textIn(error, 'Code') ?? '';
  const secrets = [bucket.accessKeyId, bucket.secretAccessKey].flatMap(echoesOf);
  const message = textIn(error, 'Message') ?? `status ${answer.status}`;
  const said = quoted(`${code} ${message}`.trim(), secrets);
  const place = answer.headers.get('x-amz-bucket-region') ?? textIn(error, 'Region') ?? '';
  const [kind, what] = verdict(bucket, answer, { code, place });
  return new Refusal(kind, `${what}: ${said}`, answer);
}

function verdict(
  { name }: Bucket,
  { status, host }: Incoming,
  { code, place }: { code: string; place: string },
): [RefusalKind, string] {
  if (isElsewhere(status, code))
    return [
      'Rejected',
      `the bucket ${name} lies elsewhere: correct region and endpoint${shownRegion(place)}`,
    ];
  if (status === 429 || LIMITED.test(code)) return ['RateLimited', `${host} asks to wait`];
  if (code === 'RequestTimeTooSkewed')
    return ['Rejected', `the clocks of ${host} and of this cluster differ by more than 15 minutes`];
  if (status === 401 || status === 403 || WRONG_KEYS.test(code))
    return ['Rejected', `${host} refused the keys, or their right to the bucket ${name}`];
  if (code === 'NoSuchBucket') return ['Missing', `${host} has no bucket ${name}`];
  if (status === 404) return ['Missing', `${host} has nothing there`];
  if (status >= 500) return ['UpstreamError', `${host} has an error of its own`];
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
 * What is only known of an object by itself: undefined where it is gone. To whoever may list and not read the type is not told; where it
 * `mustTell`, that fails. Nor is that of an object that cannot be asked for so, as one that the customer has encrypted (400), or one whose key no
 * address can hold: it holds up no other.
 * @throws Refusal
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
  if (status !== 200 && status !== 404 && !isHidden) throw await refusal(bucket, answer, wire);
  drop(answer);
  return status === 404 ? undefined : { type };
}

/** Without the charset and the like. */
export function typeIn(headers: Headers): string | null {
  return headers.get('content-type')?.split(';', 1)[0]?.trim() || null;
}
