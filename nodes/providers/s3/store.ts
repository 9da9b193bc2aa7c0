/** Files of a bucket for skills. The ID of a file is its key. */
import { StepError } from '../../../api/reasons.ts';
import { drop, readUpTo } from '../../http/body.ts';
import { ask, bucketOf, leadsElsewhere, refusal, typeIn, urlOf, type Bucket } from './bucket.ts';
import type { CredentialAccess, StepContext } from '../../contract/node.ts';
import {
  tooLarge,
  type GivenFile,
  type ReadFile,
  type Store,
  type WrittenFile,
} from '../../contract/store.ts';

/** Bytes that S3 admits: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const LONGEST_KEY = 1_024;

/** @throws StepError */
export function s3Store(credential: CredentialAccess, context: StepContext): Store {
  const bucket = bucketOf(credential);
  return {
    write: (file) => write(bucket, file, context),
    read: (id, most) => read(bucket, id, { most, context }),
  };
}

async function write(bucket: Bucket, file: GivenFile, context: StepContext): Promise<WrittenFile> {
  const { name, type, content, overwrite } = file;
  const key = keyOf(file);
  // Unless it says so it changes nothing that is there: RFC 9110 section 13.1.2.
  const headers = { 'content-type': type, ...(!overwrite && { 'if-none-match': '*' }) };
  const answer = await ask(bucket, { method: 'PUT', key, headers, body: content }, context);
  if (answer.status !== 200 && answer.status !== 412) throw await refusal(bucket, answer);
  drop(answer);
  if (answer.status === 412) await requireSame(bucket, key, { content, context });
  return { id: key, name, type, size: content.length, url: urlOf(bucket, key) };
}

/** What is there already may be what this step has written before its answer was lost. */
async function requireSame(
  bucket: Bucket,
  key: string,
  { content, context }: { content: Buffer; context: StepContext },
): Promise<void> {
  // No ETag tells: that of an object that came in parts, or is encrypted, is no hash of what is in it.
  const there = await ask(bucket, { method: 'GET', key }, context);
  const found = await readUpTo(there, Math.max(content.length, 1));
  if (there.status === 200 && found?.equals(content)) return;
  throw new StepError(
    'Refused',
    'the bucket has another file of that name there: set overwrite to true to replace it, or choose another name',
  );
}

function keyOf({ folderId = '', name }: GivenFile): string {
  const folder = folderId.replace(/^\/+/, '').replace(/\/+$/, '');
  requireNoWayUp('folderId', folder);
  const key = folder === '' ? name : `${folder}/${name}`;
  if (Buffer.byteLength(key) <= LONGEST_KEY) return key;
  throw new StepError('InvalidParameters', `name: may have ${LONGEST_KEY} bytes together with folderId`);
}

function requireNoWayUp(parameter: string, key: string): void {
  if (leadsElsewhere(key))
    throw new StepError('InvalidParameters', `${parameter}: must not hold . or .. between slashes`);
}

async function read(
  bucket: Bucket,
  key: string,
  { most, context }: { most: number; context: StepContext },
): Promise<ReadFile> {
  requireNoWayUp('fileId', key);
  const answer = await ask(bucket, { method: 'GET', key }, context);
  if (answer.status !== 200) throw await refusal(bucket, answer);
  const content = await readUpTo(answer, most);
  if (!content) throw tooLarge(most);
  return { id: key, name: key.slice(key.lastIndexOf('/') + 1), type: typeIn(answer.headers), content };
}
