/** File triggers on Google Drive, against a server that speaks its documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import {
  startDriveServer,
  type DriveFault,
  type DriveOptions,
  type DriveServer,
} from '../../../test/support/providers/google/driveServer.ts';
import {
  filePolls,
  fileEventNames,
  fileEventsOf,
  pollFileEvents,
} from '../../../test/support/nodes/polls.ts';

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

test('a new name and a move to the trash are no events', async () => {
  server.put({ id: 'a' });
  server.put({ id: 'b' });
  const { poll } = polls();
  await poll();
  server.put({ id: 'a', name: 'another name' });
  server.put({ id: 'b', trashed: true });
  expect((await poll()).events).toEqual([]);
  server.write('a');
  expect(fileEventNames(await poll())).toEqual(['modified a']);
});

test('known items are stored once for all pages of a poll', async () => {
  await restart({ pageSize: 7 });
  const { poll, stored } = polls();
  await poll();
  for (let n = 0; n < 45; n += 1) server.put({ id: `file ${n}` });
  const before = stored();
  expect(await pollFileEvents(poll, { limit: 10 })).toHaveLength(45);
  expect(stored() - before).toBe(1);
});

test('files that were known in another order than the list has are no events, though the list takes several polls', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 35; n += 1) server.put({ id: `old ${n}`, createdTime: `2026-01-01T00:00:${10 + n}Z` });
  const { poll } = polls();
  await pollFileEvents(poll, enough);
  server.put({ id: 'made long ago', createdTime: '2020-01-01T00:00:00Z' });
  expect(await pollFileEvents(poll)).toEqual(['added made long ago']);
  server.expireTokens();
  server.put({ id: 'new', createdTime: '2019-01-01T00:00:00Z' });
  server.remove('old 20');
  expect(await pollFileEvents(poll, enough)).toEqual(['added new']);
  server.put({ id: 'old 20' });
  expect(await pollFileEvents(poll)).toEqual(['added old 20']);
});

test('a list whose tokens are taken no more is gone through from its beginning', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 25; n += 1) server.put({ id: `old ${n}`, createdTime: `2026-01-01T00:00:${10 + n}Z` });
  const { poll } = polls();
  expect(await poll(enough)).toMatchObject({ events: [], more: true });
  server.expireTokens();
  expect(await pollFileEvents(poll, enough)).toEqual([]);
  server.put({ id: 'new' });
  expect(await pollFileEvents(poll)).toEqual(['added new']);
});

test('a first poll from a point in time brings what came since then, also what was modified long before it came', async () => {
  server.put({ id: 'before', createdTime: '2026-01-01T00:00:00Z', modifiedTime: '2026-01-01T00:00:00Z' });
  server.put({ id: 'after', createdTime: '2026-01-03T00:00:00Z', modifiedTime: '2020-01-01T00:00:00Z' });
  const { poll } = polls();
  expect(await poll({}, new Date('2026-01-02T00:00:00Z'))).toMatchObject({ events: [], more: true });
  expect(await pollFileEvents(poll)).toEqual(['added after']);
});

test.each<[DriveFault, string, number | undefined]>([
  ['rateLimitExceeded', 'RateLimited', undefined],
  ['insufficientPermissions', 'MissingScope', undefined],
  ['notFound', 'InvalidAnswer', undefined],
])('the answer "%s" fails the poll as %s, and no event is lost', async (fault, reason, retryAfterSeconds) => {
  const { poll } = polls();
  await poll();
  server.put({ id: 'new' });
  server.setFault(fault);
  const error: unknown = await poll().catch((error: unknown) => error);
  expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
  expect(String(error)).not.toContain('good-token');
  server.setFault(undefined);
  expect(await pollFileEvents(poll)).toEqual(['added new']);
});

test('changes that are gone (410) lead to the list', async () => {
  const { poll } = polls();
  await poll();
  server.put({ id: 'new' });
  server.setFault('gone', '/changes');
  expect(await poll()).toMatchObject({ events: [], more: true });
  server.setFault(undefined);
  expect(await pollFileEvents(poll)).toEqual(['added new']);
});

test('a watched folder in the trash, or with a quote in its ID, is reported as missing', async () => {
  server.put({ id: 'away', mimeType: FOLDER, trashed: true });
  for (const folderId of ['away', "it's"])
    await expect(polls({ folderId }).poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
});

test.each([false, true])(
  'a folder of a shared drive is watched there (with those below: %o)',
  async (below) => {
    const [one, other] = [{ driveId: '0A-one' }, { driveId: '0A-other' }];
    server.put({ id: 'in', mimeType: FOLDER, parents: ['0A-one'], ...one });
    server.put({ id: 'below', mimeType: FOLDER, parents: ['in'], ...one });
    const { poll } = polls({ folderId: 'in', includeSubfolders: below });
    await pollFileEvents(poll);
    server.put({ id: 'elsewhere', parents: ['in'], ...other });
    server.put({ id: 'new', parents: ['in'], ...one });
    server.put({ id: 'new below', parents: ['below'], ...one });
    expect(await pollFileEvents(poll)).toEqual(below ? ['added new', 'added new below'] : ['added new']);
    // The folder was moved into another shared drive: its files are listed there and compared.
    for (const id of ['in', 'below', 'new', 'new below']) server.put({ id, ...other });
    server.put({ id: 'newer', parents: ['in'], ...other });
    expect((await pollFileEvents(poll)).toSorted()).toEqual(['added elsewhere', 'added newer']);
  },
);

test("a shortcut and a document of Google's own are files, and folders that lie in one another end nowhere", async () => {
  server.put({ id: 'in', mimeType: FOLDER });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await pollFileEvents(poll);
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

test('too many folders are reported', async () => {
  await restart({ pageSize: 1 });
  for (let n = 0; n < 101; n += 1) server.put({ id: `folder ${n}`, mimeType: FOLDER });
  const poll = polls({ folderId: 'folder 0', includeSubfolders: true }).poll();
  await expect(poll).rejects.toMatchObject({ reason: 'TooLarge' });
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
