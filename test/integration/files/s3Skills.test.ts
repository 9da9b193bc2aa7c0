/** The skills upload_file and download_file on a real S3 server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bucketOf } from '../../../nodes/providers/s3/bucket.ts';
import { findSkill } from '../../../nodes/register.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { putInParts } from '../../support/providers/s3/s3Parts.ts';
import { startS3Server, type S3Server } from '../../support/providers/s3/s3Server.ts';
import { stepContext } from '../../support/nodes/stepContext.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
  await server.makeBucket('orders');
}, 300_000);
afterAll(() => server?.close());

const access = () => ({
  s3: {
    endpoint: server.url,
    bucket: 'orders',
    accessKeyIdRef: { name: 'files', key: 'id' },
    secretAccessKeyRef: { name: 'files', key: 'secret' },
  },
  secrets: { id: server.accessKeyId, secret: server.secretAccessKey },
});

async function execute(skill: string, parameters: object) {
  const { s3, secrets } = access();
  const found = await findSkill(skill)?.execute(parameters, stepContext({ s3 }, { secrets }), 'files');
  return found?.output;
}

test('a file is written and read again', async () => {
  const written = await execute('upload_file', {
    folderId: '/reports/2026/',
    name: "grün & (1)!*'.txt",
    content: 'Grüße',
  });
  expect(written).toEqual({
    text_content: "Wrote grün & (1)!*'.txt (7 bytes).",
    data_content: {
      file_id: "reports/2026/grün & (1)!*'.txt",
      name: "grün & (1)!*'.txt",
      mime_type: 'text/plain; charset=utf-8',
      size: 7,
      url: `${server.url}/orders/reports/2026/gr%C3%BCn%20%26%20%281%29%21%2A%27.txt`,
    },
  });
  expect(await execute('download_file', { fileId: "reports/2026/grün & (1)!*'.txt" })).toEqual({
    text_content: 'Grüße',
    data_content: {
      file_id: "reports/2026/grün & (1)!*'.txt",
      name: "grün & (1)!*'.txt",
      mime_type: 'text/plain',
      size: 7,
      encoding: 'text',
      content: 'Grüße',
    },
  });
});

test('a file that is there is not replaced unless the step says so, and writing the same once more is no failure', async () => {
  const write = (content: string, overwrite?: boolean) =>
    execute('upload_file', { name: 'a.txt', content, ...(overwrite !== undefined && { overwrite }) });
  await write('first');
  await write('first');
  await expect(write('second')).rejects.toMatchObject({ reason: 'Refused' });
  await write('second', true);
  expect(await execute('download_file', { fileId: 'a.txt' })).toMatchObject({ text_content: 'second' });
});

test('the same content is the same however it was written, and other content of its length is not', async () => {
  const { s3, secrets } = access();
  const secret = ({ key }: { key: string }) => new Secret(key === 'id' ? secrets.id : secrets.secret);
  const bucket = bucketOf({ name: 'files', spec: { s3 }, secret });
  expect(await putInParts(bucket, 'parts.txt', 'in parts')).toMatch(/-1"$/);
  await execute('upload_file', { name: 'parts.txt', content: 'in parts' });
  for (const content of ['in other', 'in parts!', 'in part'])
    await expect(execute('upload_file', { name: 'parts.txt', content })).rejects.toMatchObject({
      reason: 'Refused',
    });
});

test('bytes come back as they were', async () => {
  const content = Buffer.from(Array.from({ length: 5_000 }, (_, n) => n % 256)).toString('base64');
  await execute('upload_file', { name: 'a.bin', content, encoding: 'base64' });
  expect(await execute('download_file', { fileId: 'a.bin' })).toMatchObject({
    data_content: { encoding: 'base64', content, size: 5_000 },
  });
});

test('a file that is larger than wanted is not read, and neither is one that is not there', async () => {
  await execute('upload_file', { name: 'large.txt', content: 'a'.repeat(1_001) });
  await expect(execute('download_file', { fileId: 'large.txt', maxBytes: 1_000 })).rejects.toMatchObject({
    reason: 'OutputTooLarge',
  });
  await expect(execute('download_file', { fileId: 'missing.txt' })).rejects.toMatchObject({
    reason: 'Refused',
  });
});

test('a way out of the folder is refused', async () => {
  const uploading = execute('upload_file', { folderId: 'a/../../b', name: 'c', content: 'c' });
  await expect(uploading).rejects.toMatchObject({ reason: 'InvalidParameters' });
});

test('a name that is longer than the store admits, as one of 1,000 emoji, is refused before anything is sent', async () => {
  const uploading = execute('upload_file', { name: '😀'.repeat(1_000), content: 'c' });
  await expect(uploading).rejects.toMatchObject({
    reason: 'InvalidParameters',
    message: expect.stringContaining('1024 bytes'),
  });
});
