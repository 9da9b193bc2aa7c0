/** File triggers on OneDrive, against a server that speaks Microsoft Graph's documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { filePolls, pollFileEvents } from '../../../test/support/nodes/polls.ts';
import {
  startGraphServer,
  type GraphOptions,
  type GraphServer,
} from '../../../test/support/providers/microsoft/oneDriveServer.ts';
import { decodeState } from '../../triggers/files/state.ts';

let server: GraphServer;
beforeEach(async () => {
  server = await startGraphServer();
});
afterEach(() => server.close());

const polls = (fields: Partial<FileStorageTrigger> = {}) =>
  filePolls(
    { oauth2: { preset: 'microsoft', clientID: 'client', apiURL: server.url } },
    { access_token: 'good-token' },
    fields,
  );

async function restart(options: GraphOptions): Promise<void> {
  await server.close();
  server = await startGraphServer(options);
}

const enough = { enough: AbortSignal.abort() };

test('names are shown as they are, and times as the OneDrive says', async () => {
  const { poll } = polls();
  await poll();
  const names = ['😀'.repeat(1_000), '../../etc/passwd', ''];
  const times = ['1970-01-01T00:00:00Z', '2199-01-01T00:00:00Z', 'no time'];
  for (const [n, name] of names.entries())
    server.put({ id: `file ${n}`, name, lastModifiedDateTime: times[n] ?? '' });
  const found = await poll();
  expect(found.events.map(({ output }) => output.text_content).toSorted()).toEqual(names.toSorted());
  expect((await poll()).events).toEqual([]);
});

test('folders that lie in one another end nowhere, and what is no file is none', async () => {
  server.put({ id: 'in', folder: {} });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await pollFileEvents(poll);
  server.put({ id: 'a', folder: {}, parent: 'b' });
  server.put({ id: 'b', folder: {}, parent: 'a' });
  server.put({ id: 'lost', parent: 'a' });
  server.put({ id: 'notebook', parent: 'in', package: { type: 'oneNote' }, file: undefined } as object & {
    id: string;
  });
  server.put({ id: 'new', parent: 'in' });
  expect(await pollFileEvents(poll)).toEqual(['added new']);
});

test('what is known is what is there, however often folders come and go', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { poll, knownItems } = polls({ folderId: 'in', includeSubfolders: true });
  await pollFileEvents(poll);
  for (let n = 0; n < 5; n += 1) {
    server.put({ id: `folder ${n}`, folder: {}, parent: 'in' });
    server.put({ id: `file ${n}`, parent: `folder ${n}` });
    expect(await pollFileEvents(poll)).toEqual([`added file ${n}`]);
    server.remove(`file ${n}`);
    server.remove(`folder ${n}`);
    expect(await pollFileEvents(poll)).toEqual([]);
  }
  server.expireTokens();
  expect(await pollFileEvents(poll)).toEqual([]);
  // A file and the folder that it lies in.
  expect(decodeState(await knownItems.read())?.known.count).toBe(2);
});

test('what changes or is moved away while all is gone through is known once, or not', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  for (const id of ['changed', 'moved', 'old']) server.put({ id, parent: 'in' });
  const { poll, knownItems } = polls({ folderId: 'in' });
  for (let n = 0; n < 4; n += 1) await poll(enough);
  server.write('changed');
  server.put({ id: 'moved', parentReference: { id: 'root-id' } });
  expect(await pollFileEvents(poll, enough)).toEqual([]);
  expect(decodeState(await knownItems.read())?.known.count).toBe(2);
  server.put({ id: 'moved', parent: 'in' });
  server.write('changed');
  expect((await pollFileEvents(poll, enough)).toSorted()).toEqual(['added moved', 'modified changed']);
});

test('files whose folder is listed after them, by another poll, are found all the same', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'old', parent: 'deep' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'beside', folder: {} });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  expect(await pollFileEvents(poll, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'beside' });
  server.write('old');
  server.put({ id: 'beside', folder: {}, parent: 'deep' });
  expect((await pollFileEvents(poll, enough)).toSorted()).toEqual(['added new', 'modified old']);
  server.put({ id: 'old', parentReference: { id: 'root-id' } });
  server.put({ id: 'newer', parent: 'beside' });
  server.put({ id: 'beside', name: 'another name' });
  server.expireTokens();
  expect(await pollFileEvents(poll, enough)).toEqual(['added newer']);
});

test('what lies in a folder that was moved away is not watched, though it is listed before that folder', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await pollFileEvents(poll, enough);
  server.put({ id: 'below', parentReference: { id: 'root-id' } });
  expect(await pollFileEvents(poll, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'deep' });
  expect(await pollFileEvents(poll, enough)).toEqual([]);
});

test('a first poll from a point in time brings what came since then', async () => {
  server.put({ id: 'before', lastModifiedDateTime: '2026-01-01T00:00:00Z' });
  server.put({ id: 'after', lastModifiedDateTime: '2026-01-03T00:00:00Z' });
  const { poll } = polls();
  expect((await poll({}, new Date('2026-01-02T00:00:00Z'))).events).toEqual([]);
  expect(await pollFileEvents(poll)).toEqual(['added after']);
});

test('the answer "notFound" fails the poll as FolderMissing, and no event is lost', async () => {
  const { poll } = polls();
  await poll();
  server.put({ id: 'new' });
  server.setFault('notFound');
  await expect(poll()).rejects.toMatchObject({ name: 'PollError', reason: 'FolderMissing' });
  server.setFault(undefined);
  expect(await pollFileEvents(poll)).toEqual(['added new']);
});

test('a OneDrive that refuses to list its files is reported', async () => {
  server.setFault('gone', '/delta');
  await expect(polls().poll()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('where folders are listed with what lies in them, all is gone through once', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await pollFileEvents(poll);
  const listed = () => server.requests.filter((request) => request.includes('/delta?%24select')).length;
  expect(listed()).toBe(1);
  server.put({ id: 'next', folder: {}, parent: 'in' });
  await pollFileEvents(poll);
  expect(listed()).toBe(2);
  server.put({ id: 'new', parent: 'next' });
  expect(await pollFileEvents(poll)).toEqual(['added new']);
  expect(listed()).toBe(2);
});

test('the top with all that lies below it is all that there is, which is never gone through twice', async () => {
  const { poll } = polls({ folderId: 'root', includeSubfolders: true });
  await pollFileEvents(poll);
  server.requests.length = 0;
  server.put({ id: 'next', folder: {} });
  server.put({ id: 'new', parent: 'next' });
  expect(await pollFileEvents(poll)).toEqual(['added new']);
  expect(server.requests).toHaveLength(2);
});

test('a page that leads to another place is not asked for', async () => {
  server.setFault('otherHost', '/delta');
  await expect(polls().poll()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test.each([false, true])(
  'a folder that is moved and renamed is the same one (with those below: %o)',
  async (below) => {
    server.put({ id: 'in', folder: {} });
    server.put({ id: 'elsewhere', folder: {} });
    server.put({ id: 'old', parent: 'in' });
    const { poll } = polls({ folderId: 'in', includeSubfolders: below });
    await pollFileEvents(poll);
    server.put({ id: 'in', name: 'another name', parent: 'elsewhere' });
    expect(await pollFileEvents(poll)).toEqual([]);
    server.put({ id: 'new', parent: 'in' });
    server.write('old');
    expect((await pollFileEvents(poll)).toSorted()).toEqual(['added new', 'modified old']);
  },
);
