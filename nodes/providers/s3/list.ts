/**
 * Pages of the objects of a bucket: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
import { readUpTo, tooLarge, unreadable } from '../../http/body.ts';
import type { Wire } from '../../contract/node.ts';
import { ask, refusal, type Bucket } from './bucket.ts';
import { parseXml, textIn, type Element } from './xml.ts';

export type S3Object = { key: string; etag: string; size: number; modified: Date };
export type S3Page = { objects: S3Object[]; next: string | undefined };

/** A thousand objects with the longest names, each character of which is escaped. */
const PAGE_LIMIT = 8 * 1_048_576;
const MOST_KEYS = '1000';

/** `folder`: a prefix that ends in a slash. `below`: also what lies in folders of it. */
export type Listing = { folder: string; below: boolean; token?: string | undefined };

/**
 * One page, in the order of the service. A service may end a page early.
 * @throws Failure, StepError
 */
export async function listPage(bucket: Bucket, listing: Listing, wire: Wire): Promise<S3Page> {
  const { folder, below, token } = listing;
  const query = {
    'list-type': '2',
    'max-keys': MOST_KEYS,
    'encoding-type': 'url',
    ...(folder !== '' && { prefix: folder }),
    ...(!below && { delimiter: '/' }),
    ...(token !== undefined && { 'continuation-token': token }),
  };
  const answer = await ask(bucket, { method: 'GET', query }, wire);
  if (answer.status !== 200) throw await refusal(bucket, answer);
  const bytes = await readUpTo(answer, PAGE_LIMIT);
  if (bytes === undefined) throw tooLarge(answer, PAGE_LIMIT);
  const page = parsePage(bytes.toString('utf8'));
  if (page) return page;
  throw unreadable(answer);
}

/** Undefined for what is no list. */
function parsePage(text: string): S3Page | undefined {
  const list = parseXml(text);
  const isPart = textIn(list, 'IsTruncated');
  if (list?.name !== 'ListBucketResult' || (isPart !== 'true' && isPart !== 'false')) return undefined;
  const isEscaped = textIn(list, 'EncodingType') === 'url';
  const objects: S3Object[] = [];
  for (const element of list.children) {
    if (element.name !== 'Contents') continue;
    const object = objectOf(element, isEscaped);
    if (!object) return undefined;
    objects.push(object);
  }
  const next = isPart === 'true' ? textIn(list, 'NextContinuationToken') : undefined;
  // Without it the rest would be taken to be gone.
  return isPart === 'true' && !next ? undefined : { objects, next };
}

function objectOf(element: Element, isEscaped: boolean): S3Object | undefined {
  const key = keyOf(textIn(element, 'Key'), isEscaped);
  const size = Number(textIn(element, 'Size') ?? Number.NaN);
  const modified = new Date(textIn(element, 'LastModified') ?? Number.NaN);
  if (!key || !Number.isSafeInteger(size) || Number.isNaN(modified.getTime())) return undefined;
  return { key, size, modified, etag: textIn(element, 'ETag') ?? '' };
}

function keyOf(text: string | undefined, isEscaped: boolean): string | undefined {
  if (text === undefined || !isEscaped) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
