/**
 * Puts an object into a bucket in several parts, as programs do with large ones:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
 */
import { readUpTo } from '../../../../nodes/http/body.ts';
import type { HttpAnswer } from '../../../../nodes/http/request.ts';
import { ask, type Bucket } from '../../../../nodes/providers/s3/bucket.ts';
import { parseXml, textIn } from '../../../../nodes/providers/s3/xml.ts';
import { localEgress } from '../../nodes/stepContext.ts';

/** Its ETag, which is no hash of what is in it. Throws when the server refuses. */
export async function putInParts(bucket: Bucket, key: string, content: string): Promise<string> {
  const wire = { egress: localEgress, signal: AbortSignal.timeout(10_000) };
  const textOf = async (answer: HttpAnswer) => {
    const text = (await readUpTo(answer, 65_536))?.toString('utf8') ?? '';
    if (answer.status !== 200) throw new Error(`the server answered with ${answer.status}: ${text}`);
    return text;
  };
  const begun = await textOf(await ask(bucket, { method: 'POST', key, query: { uploads: '' } }, wire));
  const uploadId = textIn(parseXml(begun), 'UploadId') ?? '';
  const query = { partNumber: '1', uploadId };
  const part = await ask(bucket, { method: 'PUT', key, query, body: Buffer.from(content) }, wire);
  await textOf(part);
  const body = Buffer.from(
    `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers['etag']}</ETag></Part></CompleteMultipartUpload>`,
  );
  const done = await textOf(await ask(bucket, { method: 'POST', key, query: { uploadId }, body }, wire));
  return textIn(parseXml(done), 'ETag') ?? '';
}
