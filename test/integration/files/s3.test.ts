/** File triggers on a real S3 server. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { ask, bucketOf, type Bucket } from '../../../nodes/providers/s3/bucket.ts';
import { drop } from '../../../nodes/http/body.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { filePolls, fileEventNames, fileEventsOf } from '../../support/nodes/polls.ts';
import { putInParts } from '../../support/providers/s3/s3Parts.ts';
import { startS3Server, type S3Server } from '../../support/providers/s3/s3Server.ts';
import { localEgress } from '../../support/nodes/stepContext.ts';

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
}, 300_000);
afterAll(() => server?.close());

let name: string;
let count = 0;
beforeEach(async () => {
  name = `orders-${(count += 1)}`;
  await server.makeBucket(name);
});

const spec = (changes: object = {}): CredentialSpec => ({
  s3: {
    endpoint: server.url,
    bucket: name,
    accessKeyIdRef: { name: 'files', key: 'id' },
    secretAccessKeyRef: { name: 'files', key: 'secret' },
    ...changes,
  },
});
const secrets = () => ({ id: server.accessKeyId, secret: server.secretAccessKey });
const polls = (fields: Partial<FileStorageTrigger> = {}) => filePolls(spec(), secrets(), fields);

const bucket = (): Bucket =>
  bucketOf({
    name: 'files',
    spec: spec(),
    secret: ({ key }) => new Secret(key === 'id' ? server.accessKeyId : server.secretAccessKey),
  });
const wire = () => ({ egress: localEgress, signal: AbortSignal.timeout(10_000) });

async function put(key: string, content = key, type = 'text/plain'): Promise<void> {
  const headers = { 'content-type': type };
  const answer = await ask(bucket(), { method: 'PUT', key, headers, body: Buffer.from(content) }, wire());
  drop(answer);
  expect(answer.status).toBe(200);
}

test('the first poll returns no events, and the next poll each object that was added or modified since, once', async () => {
  await put('old.txt');
  await put('changed.txt');
  const { poll, goBackTo } = polls();
  const first = await poll();
  expect(first).toMatchObject({ events: [], more: false });
  await put('reports/new one.csv', 'a,b', 'text/csv');
  await put('changed.txt', 'something else');
  const second = await poll();
  expect(fileEventNames(second).toSorted()).toEqual(['added reports/new one.csv', 'modified changed.txt']);
  const added = second.events.find(({ output }) => output.text_content === 'new one.csv');
  expect(added?.output.data_content).toEqual({
    event: 'added',
    file: {
      id: 'reports/new one.csv',
      name: 'new one.csv',
      mime_type: 'text/csv',
      size: 3,
      modified_time: expect.stringMatching(/^20\d\d-.*Z$/),
      folder_id: 'reports/',
      url: `${server.url}/${name}/reports/new%20one.csv`,
    },
  });
  expect((await poll()).events).toEqual([]);
  goBackTo(second.cursor);
  expect((await poll()).events).toEqual([]);
});

test('names of any characters are files like others', async () => {
  const { poll } = polls();
  await poll();
  const names = [
    "a+b & <c>'(1)!*.txt",
    'grün/ß 100%.txt',
    '100%25%2F%00.txt',
    '日本/😀.txt',
    'e\u0301 and \u00e9.txt',
    'a=b&c=d?e#f.txt',
    '~tilde;.txt',
    'two..dots/...',
    'back\\slash.txt',
  ];
  for (const each of names) await put(each);
  const found = await poll();
  expect(
    fileEventsOf(found)
      .map(({ file }) => String(file['id']))
      .toSorted(),
  ).toEqual(names.toSorted());
  expect(fileEventsOf(found).every(({ file }) => file['mime_type'] === 'text/plain')).toBe(true);
});

test('many files come in pages, none twice and none left out, and what is known is kept once for all of them', async () => {
  const { poll, stored } = polls();
  await poll();
  const names = Array.from({ length: 45 }, (_, n) => `file ${String(n).padStart(2, '0')}`);
  await Promise.all(names.map((each) => put(each)));
  const before = stored();
  const found: string[] = [];
  for (let more = true; more; ) {
    const polled = await poll({ limit: 10 });
    expect(polled.events.length).toBeLessThanOrEqual(10);
    found.push(...fileEventsOf(polled).map(({ file }) => String(file['id'])));
    ({ more } = polled);
  }
  expect(found.toSorted()).toEqual(names);
  expect(stored() - before).toBe(1);
});

test.each<[Partial<FileStorageTrigger>, string[]]>([
  [{}, ['a.txt', 'in/b.txt', 'in/below/c.png', 'inside.txt']],
  [{ folderId: 'in' }, ['in/b.txt']],
  [{ folderId: '/in/', includeSubfolders: true }, ['in/b.txt', 'in/below/c.png']],
  [{ mimeTypes: ['image/*'] }, ['in/below/c.png']],
  [{ mimeTypes: ['TEXT/plain'], folderId: 'in', includeSubfolders: true }, ['in/b.txt']],
])('a trigger with %o is about %o', async (fields, expected) => {
  const { poll } = polls(fields);
  await poll();
  for (const each of ['a.txt', 'in/b.txt', 'in/below/c.png', 'inside.txt'])
    await put(each, each, each.endsWith('png') ? 'image/png' : 'text/plain');
  expect(
    fileEventsOf(await poll())
      .map(({ file }) => String(file['id']))
      .toSorted(),
  ).toEqual(expected);
});

test('an object that came in parts is a file, and in other parts it is another version', async () => {
  const { poll } = polls();
  await poll();
  await putInParts(bucket(), 'large.bin', 'a');
  expect(fileEventNames(await poll())).toEqual(['added large.bin']);
  await put('large.bin', 'a');
  expect(fileEventNames(await poll())).toEqual(['modified large.bin']);
  expect(fileEventNames(await poll())).toEqual([]);
});

test('more than a thousand objects, over several pages of the list, are distinguished, wherever new ones stand', async () => {
  const names = Array.from({ length: 1_005 }, (_, n) => `${['😀', 'a', 'Z', ''][n % 4]}${n}`);
  await server.fill(name, names);
  const { poll } = polls();
  expect(await poll()).toMatchObject({ events: [], more: false });
  const others = ['!first', 'a1', '😁last'];
  for (const each of others) await put(each);
  expect(
    fileEventsOf(await poll())
      .map(({ file }) => String(file['id']))
      .toSorted(),
  ).toEqual(others.toSorted());
  expect(await poll()).toMatchObject({ events: [], more: false });
});

test('only the changes that are asked for start something', async () => {
  await put('a');
  const { poll } = polls({ events: ['modified'] });
  await poll();
  await put('a', 'other');
  await put('b');
  expect(fileEventNames(await poll())).toEqual(['modified a']);
});

test('a first poll from a point in time returns the newer objects', async () => {
  await put('a');
  const { poll } = polls();
  const first = await poll({}, new Date(Date.now() - 60_000));
  expect(first).toMatchObject({ events: [], more: true });
  expect(fileEventNames(await poll())).toEqual(['added a']);
  const later = polls();
  const none = await later.poll({}, new Date(Date.now() + 60_000));
  expect(none.events).toEqual([]);
  expect((await later.poll()).events).toEqual([]);
});

test.each([
  ['a bucket that is not there', { bucket: 'missing' }, {}, 'FolderMissing', 'has no bucket missing'],
  ['a secret that is another', {}, { secret: 'other-secret' }, 'Rejected', 'refused the keys'],
  ['a key that nobody has', {}, { id: 'nobody' }, 'Rejected', 'refused the keys'],
  ['nobody who listens', { endpoint: 'http://127.0.0.1:1' }, {}, 'Unreachable', 'cannot connect to'],
])('%s is told', async (_what, changes, others, reason, message) => {
  const given = { ...secrets(), ...others };
  const error: unknown = await filePolls(spec(changes), given)
    .poll()
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ reason, message: expect.stringContaining(message) });
  expect(String(error)).not.toContain(given.secret);
});

test('another bucket behind the same credential is a new beginning', async () => {
  const { poll } = polls();
  const { cursor } = await poll();
  name = `orders-${(count += 1)}`;
  await server.makeBucket(name);
  await put('of the other one');
  const other = polls();
  await other.poll();
  other.goBackTo(cursor);
  expect(await other.poll()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another account or bucket'),
  });
});
