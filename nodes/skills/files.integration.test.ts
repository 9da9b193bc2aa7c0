/**
 * The skills upload_file and download_file on Google Drive, against a server that speaks its documented wire
 * format, and on a bucket that fails.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StepContext } from '../contract/node.ts';
import { findSkill } from '../register.ts';
import { startBucketServer } from '../../test/support/providers/s3/bucketServer.ts';
import {
  startDriveServer,
  type DriveFault,
  type DriveServer,
} from '../../test/support/providers/google/driveServer.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';

const FOLDER = 'application/vnd.google-apps.folder';

let server: DriveServer;
beforeEach(async () => {
  server = await startDriveServer({ token: 'test-secret' });
});
afterEach(() => server.close());

const context = (changes: Partial<StepContext> = {}) =>
  stepContext({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }, changes);

function execute(skill: string, parameters: object, given: StepContext = context()) {
  const found = findSkill(skill);
  if (!found) throw new Error(`there is no skill ${skill}`);
  return found.execute(parameters, given, 'files').then(({ output }) => output);
}

test('a file is written into a folder, with its type, and read again', async () => {
  server.put({ id: 'in', mimeType: FOLDER });
  const written = await execute('upload_file', {
    folderId: 'in',
    name: 'grün.csv',
    content: 'a,ä\n😀',
    mimeType: 'text/csv',
  });
  const { file_id: fileId } = written.data_content as { file_id: string };
  expect(written).toEqual({
    text_content: 'Wrote grün.csv (9 bytes).',
    data_content: {
      file_id: fileId,
      name: 'grün.csv',
      mime_type: 'text/csv',
      size: 9,
      url: `https://drive.google.com/file/d/${fileId}/view`,
    },
  });
  expect(server.files.get(fileId)).toMatchObject({ name: 'grün.csv', parents: ['in'], mimeType: 'text/csv' });
  expect(server.content(fileId)).toBe('a,ä\n😀');
  expect(await execute('download_file', { fileId })).toEqual({
    text_content: 'a,ä\n😀',
    data_content: {
      file_id: fileId,
      name: 'grün.csv',
      mime_type: 'text/csv',
      size: 9,
      encoding: 'text',
      content: 'a,ä\n😀',
    },
  });
});

test('bytes are written from base64 and read as such', async () => {
  const bytes = Buffer.from([0, 255, 13, 10, 45, 45]);
  const content = bytes.toString('base64');
  const written = await execute('upload_file', {
    name: 'a.bin',
    content: `${content}\r\n`,
    encoding: 'base64',
  });
  const { file_id: fileId } = written.data_content as { file_id: string };
  const read = await execute('download_file', { fileId });
  expect(read).toMatchObject({
    text_content: '',
    data_content: { mime_type: 'application/octet-stream', encoding: 'base64', content },
  });
  await expect(execute('download_file', { fileId, encoding: 'text' })).rejects.toMatchObject({
    reason: 'InvalidAnswer',
    retryable: false,
  });
});

test('a repeated delivery of the same attempt writes no second file, and another attempt does', async () => {
  const parameters = { name: 'a.txt', content: 'a' };
  const first = await execute('upload_file', parameters);
  expect(await execute('upload_file', parameters)).toEqual(first);
  await execute('upload_file', parameters, context({ effectKey: 'run-1/step/2' }));
  expect([...server.files.values()].filter(({ name }) => name === 'a.txt')).toHaveLength(2);
});

test('with overwrite the one file of that name gets new content, and of several none', async () => {
  const write = (content: string, effectKey: string, overwrite = true) =>
    execute('upload_file', { name: "it's.txt", content, overwrite }, context({ effectKey }));
  const first = await write('first', '1');
  const second = await write('second', '2');
  expect((second.data_content as { file_id: string }).file_id).toBe(
    (first.data_content as { file_id: string }).file_id,
  );
  expect(server.content((first.data_content as { file_id: string }).file_id)).toBe('second');
  await write('beside', '3', false);
  await expect(write('third', '4')).rejects.toMatchObject({ reason: 'Refused' });
});

test('a document of Google is read as text, a sheet as CSV, or as the step says', async () => {
  server.put({ id: 'sheet', mimeType: 'application/vnd.google-apps.spreadsheet' });
  server.put({ id: 'form', mimeType: 'application/vnd.google-apps.form' });
  for (const kind of ['folder', 'shortcut'])
    server.put({ id: kind, mimeType: `application/vnd.google-apps.${kind}` });
  const read = await execute('download_file', { fileId: 'sheet' });
  expect(read.data_content).toMatchObject({ mime_type: 'text/csv' });
  await execute('download_file', { fileId: 'sheet', exportType: 'application/pdf' });
  expect(server.requests.at(-1)).toContain('/export?mimeType=application%2Fpdf');
  for (const fileId of ['form', 'folder', 'shortcut'])
    await expect(execute('download_file', { fileId })).rejects.toMatchObject({ reason: 'Refused' });
});

test('a file of 10 GB is not asked for', async () => {
  server.put({ id: 'large', size: String(10 * 1_024 ** 3) });
  await expect(execute('download_file', { fileId: 'large' })).rejects.toMatchObject({
    reason: 'OutputTooLarge',
  });
  expect(server.requests.some((request) => request.includes('alt=media'))).toBe(false);
});

test.each<[string, object, RegExp]>([
  ['a slash', { name: 'a/b' }, /^name: must not hold a slash/],
  ['a way up', { name: '..' }, /^name: must not be/],
  ['a way up before a name', { name: '../../etc/passwd' }, /^name: must not hold a slash/],
  ['a line break', { name: 'a\r\nb' }, /^name: must not hold a slash or a control character/],
  ['nothing', { name: '' }, /^name: must not be empty/],
  ['a type that ends the header', { mimeType: 'text/csv; a\r\nX: y' }, /^mimeType: /],
  ['content that is too long', { content: 'x'.repeat(524_289) }, /^content: may have at most 524288/],
  ['content that is no base64', { content: '!', encoding: 'base64' }, /^content: is not base64/],
])('%s is refused before anything is sent', async (_what, changes, message) => {
  const executing = execute('upload_file', { name: 'a', content: 'a', ...changes });
  await expect(executing).rejects.toMatchObject({
    reason: 'InvalidParameters',
    message: expect.stringMatching(message),
  });
  expect(server.requests).toEqual([]);
});

test.each(['..', '../files', 'a/../b', './a', 'a/..', '..?alt=media', 'a b'])(
  'a file or folder by the name %j is asked for neither at a drive nor at a bucket',
  async (id) => {
    const bucket = await startBucketServer();
    const ref = { name: 'files', key: 'key' };
    const s3 = { endpoint: bucket.url, bucket: 'orders', accessKeyIdRef: ref, secretAccessKeyRef: ref };
    const isPath = /(?:^|\/)\.\.?(?:\/|$)/.test(id);
    for (const given of [context(), ...(isPath ? [stepContext({ s3 })] : [])])
      for (const [skill, parameters] of [
        ['download_file', { fileId: id }],
        ['upload_file', { folderId: id, name: 'a', content: 'a' }],
      ] as const)
        await expect(execute(skill, parameters, given)).rejects.toMatchObject({
          reason: 'InvalidParameters',
          message: expect.stringMatching(/^f(?:ile|older)Id: must /),
        });
    expect([...server.requests, ...bucket.requests]).toEqual([]);
    await bucket.close();
  },
);

test('a file of as many bytes as are wanted is read, and one of more is not, though nobody says how large it is', async () => {
  const written = await execute('upload_file', { name: 'a', content: 'abc' });
  const { file_id: fileId } = written.data_content as { file_id: string };
  expect(await execute('download_file', { fileId, maxBytes: 3 })).toMatchObject({ text_content: 'abc' });
  const untold = { size: undefined, mimeType: 'application/vnd.google-apps.document' };
  server.put({ id: fileId, ...untold });
  expect(await execute('download_file', { fileId, maxBytes: 3 })).toMatchObject({ text_content: 'abc' });
  await expect(execute('download_file', { fileId, maxBytes: 2 })).rejects.toMatchObject({
    reason: 'OutputTooLarge',
  });
});

test('text with what no text has is read as bytes, and one that JSON makes too large is not', async () => {
  const upload = async (content: string, effectKey: string) => {
    const written = await execute('upload_file', { name: 'a', content }, context({ effectKey }));
    return written.data_content as { file_id: string };
  };
  const { file_id: bytes } = await upload('a\0b', '1');
  expect((await execute('download_file', { fileId: bytes })).data_content).toMatchObject({
    encoding: 'base64',
    content: Buffer.from('a\0b').toString('base64'),
  });
  const { file_id: escaped } = await upload('\u0001'.repeat(200_000), '2');
  await expect(execute('download_file', { fileId: escaped })).rejects.toMatchObject({
    reason: 'OutputTooLarge',
  });
});

test('more bytes than an output has room for cannot be asked for', async () => {
  await expect(execute('download_file', { fileId: 'a', maxBytes: 384_001 })).rejects.toMatchObject({
    reason: 'InvalidParameters',
  });
  expect(server.requests).toEqual([]);
});

test('a name of 1,000 emoji is a name', async () => {
  const name = '😀'.repeat(1_000);
  const written = await execute('upload_file', { name, content: 'a' });
  expect(written.data_content).toMatchObject({ name });
  expect([...server.files.values()].map((file) => file.name)).toContain(name);
  await expect(execute('upload_file', { name: 'x'.repeat(1_025), content: 'a' })).rejects.toMatchObject({
    reason: 'InvalidParameters',
  });
});

test.each<[DriveFault, string, number | undefined]>([
  ['unauthorized', 'CredentialRejected', undefined],
  ['insufficientPermissions', 'CredentialRejected', undefined],
  ['forbidden', 'CredentialRejected', undefined],
  ['rateLimitExceeded', 'RateLimited', undefined],
  ['tooManyRequests', 'RateLimited', 17_000],
  ['notFound', 'Refused', undefined],
  ['gone', 'Refused', undefined],
  ['unavailable', 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])('a drive that answers with "%s" is %s', async (fault, reason, retryAfterMs) => {
  server.put({ id: 'a' });
  server.setFault(fault);
  for (const [skill, parameters] of [
    ['upload_file', { name: 'a', content: 'a' }],
    ['download_file', { fileId: 'a' }],
  ] as const) {
    const error: unknown = await execute(skill, parameters).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'StepError', reason, retryAfterMs });
    expect(String(error)).not.toContain('test-secret');
  }
});

test('with AtMostOnce what may have been written is not repeated, and what was refused is', async () => {
  const upload = () => execute('upload_file', { name: 'a', content: 'a' }, context({ effect: 'AtMostOnce' }));
  server.setFault('drop', '/upload/');
  await expect(upload()).rejects.toMatchObject({ reason: 'EffectUnknown' });
  server.setFault('unavailable', '/upload/');
  await expect(upload()).rejects.toMatchObject({ reason: 'EffectUnknown' });
  server.setFault('tooManyRequests', '/upload/');
  await expect(upload()).rejects.toMatchObject({ reason: 'RateLimited' });
  server.setFault('unavailable', '/drive/v3/files');
  await expect(upload()).rejects.toMatchObject({ reason: 'UpstreamError' });
});

test('a step that must end ends', async () => {
  server.setFault('hang');
  const controller = new AbortController();
  const reading = execute('download_file', { fileId: 'a' }, context({ signal: controller.signal })).catch(
    (error: unknown) => error,
  );
  controller.abort();
  expect(await reading).toMatchObject({ reason: 'Cancelled' });
});

test('of a bucket that sends without end no more is read than is wanted', async () => {
  const bucket = await startBucketServer();
  const ref = { name: 'files', key: 'key' };
  const s3 = { endpoint: bucket.url, bucket: 'orders', accessKeyIdRef: ref, secretAccessKeyRef: ref };
  bucket.setFault('endless');
  await expect(execute('download_file', { fileId: 'a' }, stepContext({ s3 }))).rejects.toMatchObject({
    reason: 'OutputTooLarge',
  });
  await bucket.close();
});

test.each([
  ['smtp', { smtp: { host: 'a', from: 'a@b' } }],
  ['microsoft', { oauth2: { preset: 'microsoft', clientID: 'c' } }],
])('a credential that has no files (%s) is named', async (_what, spec) => {
  const executing = execute('download_file', { fileId: 'a' }, stepContext(spec as object));
  await expect(executing).rejects.toMatchObject({
    reason: 'InvalidParameters',
    message: expect.stringContaining('credential files has no files'),
  });
});
