/**
 * A bucket that answers as S3 does, for what a real server cannot be made to do: failures, lists that end
 * early, tokens that expire.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html (codes, their status and their XML)
 * Signatures are not checked.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../../network/listen.ts';

export type BucketFault =
  | 'unauthorized'
  | 'AccessDenied'
  | 'NoSuchBucket'
  | 'RequestTimeTooSkewed'
  | 'InvalidRequest'
  | 'PermanentRedirect'
  | 'tooManyRequests'
  | 'SlowDown'
  | 'InternalError'
  | 'drop'
  | 'hang'
  | 'garbage'
  | 'halfAList'
  | 'endless';

type Stored = { etag: string; size: number; modified: Date; type: string };

export type BucketServer = {
  url: string;
  objects: Map<string, Stored>;
  put(key: string, options?: Partial<Stored>): void;
  /** Every request from now on fails, or those of that method alone. */
  setFault(fault: BucketFault | undefined, method?: string): void;
  /** Takes none of the tokens that it gave so far. */
  expireTokens(): void;
  requests: string[];
  close(): Promise<void>;
};

const CODES: Partial<Record<BucketFault, [number, string]>> = {
  unauthorized: [401, 'Unauthorized'],
  AccessDenied: [403, 'AccessDenied'],
  NoSuchBucket: [404, 'NoSuchBucket'],
  RequestTimeTooSkewed: [403, 'RequestTimeTooSkewed'],
  InvalidRequest: [400, 'InvalidRequest'],
  PermanentRedirect: [301, 'PermanentRedirect'],
  tooManyRequests: [429, 'TooManyRequests'],
  SlowDown: [503, 'SlowDown'],
  InternalError: [500, 'InternalError'],
};

/** Starts it. `pageSize` bounds every page of a list. */
export async function startBucketServer({ pageSize = 1_000 } = {}): Promise<BucketServer> {
  const objects = new Map<string, Stored>();
  const requests: string[] = [];
  let fault: { fault: BucketFault; method: string | undefined } | undefined;
  let era = 0;
  const server = await listen((request, response) => {
    const url = new URL(request.url ?? '', 'http://bucket');
    requests.push(`${request.method} ${request.url}`);
    if (fault && (fault.method ?? request.method) === request.method)
      return fail(fault.fault, request, response);
    if (request.method === 'HEAD') return head(objects, request.url ?? '', response);
    const token = url.searchParams.get('continuation-token');
    if (token && !token.startsWith(`${era}:`))
      return sendError(response, 400, 'InvalidArgument', 'The continuation token provided is incorrect');
    sendXml(response, 200, list(objects, url.searchParams, { pageSize, era }));
  });
  return {
    url: server.url,
    objects,
    requests,
    put: (key, { etag = `"${objects.size}"`, size = 3, modified = new Date(), type = 'text/plain' } = {}) =>
      void objects.set(key, { etag, size, modified, type }),
    setFault: (kind, method) => {
      fault = kind && { fault: kind, method };
    },
    expireTokens: () => void (era += 1),
    close: () => server.close(),
  };
}

function fail(fault: BucketFault, request: IncomingMessage, response: ServerResponse): void {
  const [status, code] = CODES[fault] ?? [];
  if (status !== undefined && code !== undefined) {
    if (status === 429 || status === 503) response.setHeader('retry-after', '17');
    if (status === 301) response.setHeader('x-amz-bucket-region', 'eu-west-1');
    sendError(response, status, code, `${code}, said to ${request.headers.authorization}`);
  } else if (fault === 'drop') request.socket.destroy();
  else if (fault === 'garbage') response.writeHead(200).end('<html>captive portal</html>');
  else if (fault === 'halfAList')
    sendXml(response, 200, '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>');
  else if (fault === 'endless') {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'a')));
    };
    response.on('drain', more);
    more();
  }
}

/** The path is taken as it comes: a name may have dots where a URL would resolve them. */
function head(objects: Map<string, Stored>, path: string, response: ServerResponse): void {
  const key = decodeURIComponent(path.replace(/^\/[^/]+\//, ''));
  const found = objects.get(key);
  response.writeHead(found ? 200 : 404, found ? { 'content-type': found.type, etag: found.etag } : {}).end();
}

type Bounds = { pageSize: number; era: number };

function list(objects: Map<string, Stored>, query: URLSearchParams, { pageSize, era }: Bounds): string {
  const start = Number(query.get('continuation-token')?.split(':')[1] ?? 0);
  const all = [...objects].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const end = start + pageSize;
  const contents = all
    .slice(start, end)
    .map(
      ([key, { etag, size, modified }]) =>
        `<Contents><Key>${encodeURIComponent(key).replaceAll('%20', '+')}</Key><LastModified>${modified.toISOString()}</LastModified>` +
        `<ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    );
  const next = end < all.length ? `<NextContinuationToken>${era}:${end}</NextContinuationToken>` : '';
  return `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>orders</Name><EncodingType>url</EncodingType><IsTruncated>${next !== ''}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`;
}

function sendXml(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`);
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendXml(response, status, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}
