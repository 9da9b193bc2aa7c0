/** File triggers on Google Drive, against a server that speaks its documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import {
  startDriveServer,
  type DriveFault,
  type DriveOptions,
  type DriveServer,
} from '../../../test/support/providers/google/driveServer.ts';
import { filePolls, fileEventNames, fileEventsOf } from '../../../test/support/nodes/polls.ts';
import type { Polled } from '../../poller.ts';

const FOLDER = 'application/vnd.google-apps.folder';

let server: DriveServer;
beforeEach(async () => {
  server = await startDriveServer();
});
afterEach(() => server.close());

const polls = (fields: Partial<FileStorageTrigger> = {}, secrets = { access_token: 'good-token' }) =>
  filePolls({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }, secrets, fields);

async function restart(options: DriveOptions): Promise<void> {
  await server.close();
  server = await startDriveServer(options);
}

const enough = { enough: AbortSignal.abort() };

/** Looks until nothing more is waiting. */
async function round(poll: ReturnType<typeof polls>['poll'], context: object = {}): Promise<string[]> {
  const found: string[] = [];
  let polled: Polled;
  do {
    polled = await poll(context);
    found.push(...fileEventNames(polled));
  } while (polled.more);
  return found;
}

test('the first poll brings nothing, and the next what was added and modified since, once', async () => {
  server.put({ id: 'old' });
  server.put({ id: 'changed' });
  const { poll, goBackTo } = polls();
  expect(await poll()).toMatchObject({ events: [], more: false });
  server.put({
    id: 'new',
    name: 'Invoice.pdf',
    mimeType: 'application/pdf',
    size: '10737418240',
    modifiedTime: '2026-03-02T09:00:00.000Z',
    webViewLink: 'https://drive.google.com/file/d/new/view',
  });
  server.write('changed');
  const found = await poll();
  expect(fileEventNames(found)).toEqual(['added new', 'modified changed']);
  expect(found.events[0]?.output).toEqual({
    text_content: 'Invoice.pdf',
    data_content: {
      event: 'added',
      file: {
        id: 'new',
        name: 'Invoice.pdf',
        mime_type: 'application/pdf',
        size: 10_737_418_240,
        modified_time: '2026-03-02T09:00:00.000Z',
        folder_id: 'root-folder',
        url: 'https://drive.google.com/file/d/new/view',
      },
    },
  });
  expect((await poll()).events).toEqual([]);
  goBackTo(found.cursor);
  expect((await poll()).events).toEqual([]);
});

test('a poll of a drive in which nothing happened is two requests, and one more with a folder', async () => {
  const all = polls();
  await all.poll();
  server.requests.length = 0;
  await all.poll();
  expect(server.requests).toHaveLength(2);
  const one = polls({ folderId: 'root' });
  await one.poll();
  server.requests.length = 0;
  await one.poll();
  expect(server.requests).toHaveLength(3);
});

test('another name or another reader is no event, and neither is a file that was thrown away', async () => {
  server.put({ id: 'a' });
  server.put({ id: 'b' });
  const { poll } = polls();
  await poll();
  server.put({ id: 'a', name: 'another name' });
  server.put({ id: 'b', trashed: true });
  server.remove(server.put({ id: 'c' }));
  expect((await poll()).events).toEqual([]);
  server.write('a');
  expect(fileEventNames(await poll())).toEqual(['modified a']);
});

test('many changes come in pages, none twice and none left out, and what is known is kept once for all of them', async () => {
  await restart({ pageSize: 7 });
  const { poll, stored } = polls();
  await poll();
  const names = Array.from({ length: 45 }, (_, n) => `file ${String(n).padStart(2, '0')}`);
  for (const id of names) server.put({ id });
  const before = stored();
  const found = await round(poll, { limit: 10 });
  expect(found.toSorted()).toEqual(names.map((name) => `added ${name}`));
  expect(stored() - before).toBe(1);
});

test('a folder is watched alone, or with those below it, also when they come and go', async () => {
  server.put({ id: 'in', mimeType: FOLDER });
  server.put({ id: 'below', mimeType: FOLDER, parents: ['in'] });
  server.put({ id: 'elsewhere', mimeType: FOLDER });
  server.put({ id: 'old', parents: ['below'] });
  const alone = polls({ folderId: 'in' });
  const withBelow = polls({ folderId: 'in', includeSubfolders: true });
  await round(alone.poll);
  await round(withBelow.poll);
  for (const parent of ['in', 'below', 'elsewhere']) server.put({ id: `in ${parent}`, parents: [parent] });
  expect(await round(alone.poll)).toEqual(['added in in']);
  expect((await round(withBelow.poll)).toSorted()).toEqual(['added in below', 'added in in']);
  server.put({ id: 'elsewhere', parents: ['below'] });
  server.put({ id: 'below', parents: ['in'] });
  expect(await round(withBelow.poll)).toEqual(['added in elsewhere']);
  server.put({ id: 'below', parents: ['root-folder'] });
  server.write('old');
  expect(await round(withBelow.poll)).toEqual([]);
  server.put({ id: 'in elsewhere', parents: ['in'] });
  expect(await round(alone.poll)).toEqual(['added in elsewhere']);
});

test('where Google knows the place no more, the list is compared with what was known, so that nothing is lost', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 35; n += 1) server.put({ id: `old ${n}`, createdTime: `2026-01-01T00:00:${10 + n}Z` });
  const { poll } = polls();
  expect(await round(poll, enough)).toEqual([]);
  server.put({ id: 'new' });
  server.write('old 7');
  server.remove('old 3');
  server.expireTokens();
  expect((await round(poll, enough)).toSorted()).toEqual(['added new', 'modified old 7']);
  server.put({ id: 'old 3', createdTime: '2026-01-01T00:00:13Z' });
  expect(await round(poll)).toEqual(['added old 3']);
});

test('files that were known in another order than the list has are no events, though the list takes several polls', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 35; n += 1) server.put({ id: `old ${n}`, createdTime: `2026-01-01T00:00:${10 + n}Z` });
  const { poll } = polls();
  await round(poll, enough);
  server.put({ id: 'made long ago', createdTime: '2020-01-01T00:00:00Z' });
  expect(await round(poll)).toEqual(['added made long ago']);
  server.expireTokens();
  server.put({ id: 'new', createdTime: '2019-01-01T00:00:00Z' });
  server.remove('old 20');
  expect(await round(poll, enough)).toEqual(['added new']);
  server.put({ id: 'old 20' });
  expect(await round(poll)).toEqual(['added old 20']);
});

test('a list whose tokens are taken no more is gone through from its beginning', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 25; n += 1) server.put({ id: `old ${n}`, createdTime: `2026-01-01T00:00:${10 + n}Z` });
  const { poll } = polls();
  expect(await poll(enough)).toMatchObject({ events: [], more: true });
  server.expireTokens();
  expect(await round(poll, enough)).toEqual([]);
  server.put({ id: 'new' });
  expect(await round(poll)).toEqual(['added new']);
});

test('a first poll from a point in time brings what came since then, also what was modified long before it came', async () => {
  server.put({ id: 'before', createdTime: '2026-01-01T00:00:00Z', modifiedTime: '2026-01-01T00:00:00Z' });
  server.put({ id: 'after', createdTime: '2026-01-03T00:00:00Z', modifiedTime: '2020-01-01T00:00:00Z' });
  const { poll } = polls();
  expect(await poll({}, new Date('2026-01-02T00:00:00Z'))).toMatchObject({ events: [], more: true });
  expect(await round(poll)).toEqual(['added after']);
});

test.each<[DriveFault, string, number | undefined]>([
  ['unauthorized', 'Rejected', undefined],
  ['rateLimitExceeded', 'RateLimited', undefined],
  ['tooManyRequests', 'RateLimited', 17],
  ['insufficientPermissions', 'MissingScope', undefined],
  ['forbidden', 'Rejected', undefined],
  ['notFound', 'InvalidAnswer', undefined],
  ['unavailable', 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])('a drive that answers with "%s" is %s, and nothing is lost', async (fault, reason, retryAfterSeconds) => {
  const { poll } = polls();
  await poll();
  server.put({ id: 'new' });
  server.setFault(fault);
  const error: unknown = await poll().catch((error: unknown) => error);
  expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
  expect(String(error)).not.toContain('good-token');
  server.setFault(undefined);
  expect(await round(poll)).toEqual(['added new']);
});

test('changes that are gone (410) lead to the list', async () => {
  const { poll } = polls();
  await poll();
  server.put({ id: 'new' });
  server.setFault('gone', '/changes');
  expect(await poll()).toMatchObject({ events: [], more: true });
  server.setFault(undefined);
  expect(await round(poll)).toEqual(['added new']);
});

test('a folder that is not there, is a file, was thrown away, or is seen no more is told', async () => {
  server.put({ id: 'file' });
  server.put({ id: 'away', mimeType: FOLDER, trashed: true });
  for (const folderId of ['missing', 'file', 'away', "it's"])
    await expect(polls({ folderId }).poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', mimeType: FOLDER });
  const { poll } = polls({ folderId: 'in' });
  await poll();
  server.remove('in');
  await expect(poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', mimeType: FOLDER });
  server.put({ id: 'new', parents: ['in'] });
  expect(await round(poll)).toEqual(['added new']);
});

test.each([false, true])(
  'a folder of a shared drive is watched there (with those below: %o)',
  async (below) => {
    const [one, other] = [{ driveId: '0A-one' }, { driveId: '0A-other' }];
    server.put({ id: 'in', mimeType: FOLDER, parents: ['0A-one'], ...one });
    server.put({ id: 'below', mimeType: FOLDER, parents: ['in'], ...one });
    const { poll } = polls({ folderId: 'in', includeSubfolders: below });
    await round(poll);
    server.put({ id: 'elsewhere', parents: ['in'], ...other });
    server.put({ id: 'new', parents: ['in'], ...one });
    server.put({ id: 'new below', parents: ['below'], ...one });
    expect(await round(poll)).toEqual(below ? ['added new', 'added new below'] : ['added new']);
    // The folder was moved into another shared drive: its files are listed there and compared.
    for (const id of ['in', 'below', 'new', 'new below']) server.put({ id, ...other });
    server.put({ id: 'newer', parents: ['in'], ...other });
    expect((await round(poll)).toSorted()).toEqual(['added elsewhere', 'added newer']);
  },
);

test("a shortcut and a document of Google's own are files, and folders that lie in one another end nowhere", async () => {
  server.put({ id: 'in', mimeType: FOLDER });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await round(poll);
  server.put({ id: 'a', mimeType: FOLDER, parents: ['b'] });
  server.put({ id: 'b', mimeType: FOLDER, parents: ['a', 'in'] });
  server.put({ id: 'shortcut', mimeType: 'application/vnd.google-apps.shortcut', parents: ['in'] });
  server.put({ id: 'document', mimeType: 'application/vnd.google-apps.document', parents: ['a'] });
  expect(await poll()).toMatchObject({ events: [], more: true });
  expect(fileEventsOf(await poll()).map(({ file }) => [file['id'], file['size']])).toEqual([
    ['shortcut', null],
    ['document', null],
  ]);
});

test('whatever the clock of the drive says, a file is an event once, with the time that it says', async () => {
  const { poll } = polls();
  await poll();
  const times = ['1970-01-01T00:00:00.000Z', '2199-01-01T00:00:00.000Z', 'no time'];
  for (const modifiedTime of times) server.put({ id: modifiedTime, modifiedTime, createdTime: modifiedTime });
  expect(fileEventsOf(await poll()).map(({ file }) => file['modified_time'])).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '2199-01-01T00:00:00.000Z',
  ]);
  expect((await poll()).events).toEqual([]);
});

test('more folders than are told apart are told', async () => {
  await restart({ pageSize: 1 });
  for (let n = 0; n < 101; n += 1) server.put({ id: `folder ${n}`, mimeType: FOLDER });
  const poll = polls({ folderId: 'folder 0', includeSubfolders: true }).poll();
  await expect(poll).rejects.toMatchObject({ reason: 'TooLarge' });
});

test('another account behind the same credential is a new beginning', async () => {
  const { poll } = polls();
  const { cursor } = await poll();
  await restart({ owner: '4567' });
  server.put({ id: 'of the other one' });
  const other = polls();
  await other.poll();
  other.goBackTo(cursor);
  expect(await other.poll()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another account'),
  });
});

test('names are shown as they are', async () => {
  const { poll } = polls();
  await poll();
  const names = ['😀'.repeat(1_000), '../../etc/passwd', ''];
  for (const [n, name] of names.entries()) server.put({ id: `file ${n}`, name });
  expect(fileEventsOf(await poll()).map(({ file }) => file['name'])).toEqual(names);
});

test('an account that nobody has connected says so', async () => {
  const polling = filePolls({ oauth2: { preset: 'google', clientID: 'c', apiURL: server.url } }, {}).poll();
  await expect(polling).rejects.toMatchObject({
    reason: 'CredentialMissing',
    message: expect.stringContaining('not connected'),
  });
});

test.each([
  ['smtp', { smtp: { host: 'a', from: 'a@b' } }],
  ['custom without a place', { oauth2: { clientID: 'c' } }],
])('a credential that cannot list files (%s) is named', async (_what, spec) => {
  await expect(filePolls(spec as object, {}).poll()).rejects.toMatchObject({
    reason: 'InvalidTrigger',
    message: expect.stringContaining('the credential account cannot list files'),
  });
});
