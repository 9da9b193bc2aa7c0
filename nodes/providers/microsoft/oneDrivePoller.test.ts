/** File triggers on OneDrive, against a server that speaks Microsoft Graph's documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { filePolls, fileEventNames } from '../../../test/support/nodes/polls.ts';
import {
  startGraphServer,
  type GraphFault,
  type GraphOptions,
  type GraphServer,
} from '../../../test/support/providers/microsoft/oneDriveServer.ts';
import type { Polled } from '../../poller.ts';
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
    file: { mimeType: 'application/pdf' },
    size: 10_737_418_240,
    lastModifiedDateTime: '2026-03-02T09:00:00Z',
    webUrl: 'https://onedrive.live.com/?id=new',
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
        folder_id: 'root-id',
        url: 'https://onedrive.live.com/?id=new',
      },
    },
  });
  expect((await poll()).events).toEqual([]);
  goBackTo(found.cursor);
  expect((await poll()).events).toEqual([]);
});

test('another name is no event, and neither is a file that is gone', async () => {
  server.put({ id: 'a' });
  const { poll } = polls();
  await poll();
  server.put({ id: 'a', name: 'another name' });
  server.put({ id: 'b' });
  server.remove('b');
  expect((await poll()).events).toEqual([]);
});

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
  await round(poll);
  server.put({ id: 'a', folder: {}, parent: 'b' });
  server.put({ id: 'b', folder: {}, parent: 'a' });
  server.put({ id: 'lost', parent: 'a' });
  server.put({ id: 'notebook', parent: 'in', package: { type: 'oneNote' }, file: undefined } as object & {
    id: string;
  });
  server.put({ id: 'new', parent: 'in' });
  expect(await round(poll)).toEqual(['added new']);
});

test('many changes come in pages, none twice and none left out, also where each poll has one page', async () => {
  await restart({ pageSize: 7 });
  for (let n = 0; n < 20; n += 1) server.put({ id: `old ${n}` });
  const { poll } = polls();
  expect(await round(poll, enough)).toEqual([]);
  const names = Array.from({ length: 45 }, (_, n) => `file ${String(n).padStart(2, '0')}`);
  for (const id of names) server.put({ id });
  const found = await round(poll, { ...enough, limit: 10 });
  expect(found.toSorted()).toEqual(names.map((name) => `added ${name}`));
});

test('a folder is watched alone, or with those below it, also when they come and go', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'elsewhere', folder: {} });
  server.put({ id: 'old', parent: 'below' });
  const alone = polls({ folderId: 'in' });
  const withBelow = polls({ folderId: 'in', includeSubfolders: true });
  await round(alone.poll);
  await round(withBelow.poll);
  for (const parent of ['in', 'below', 'elsewhere']) server.put({ id: `in ${parent}`, parent });
  expect(await round(alone.poll)).toEqual(['added in in']);
  expect((await round(withBelow.poll)).toSorted()).toEqual(['added in below', 'added in in']);
  server.put({ id: 'elsewhere', parent: 'below' });
  expect(await round(withBelow.poll)).toEqual(['added in elsewhere']);
  server.put({ id: 'below', parentReference: { id: 'root-id' } });
  await round(withBelow.poll);
  server.write('old');
  expect(await round(withBelow.poll)).toEqual([]);
});

test('what is known is what is there, however often folders come and go', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { poll, knownItems } = polls({ folderId: 'in', includeSubfolders: true });
  await round(poll);
  for (let n = 0; n < 5; n += 1) {
    server.put({ id: `folder ${n}`, folder: {}, parent: 'in' });
    server.put({ id: `file ${n}`, parent: `folder ${n}` });
    expect(await round(poll)).toEqual([`added file ${n}`]);
    server.remove(`file ${n}`);
    server.remove(`folder ${n}`);
    expect(await round(poll)).toEqual([]);
  }
  server.expireTokens();
  expect(await round(poll)).toEqual([]);
  // A file and the folder that it lies in.
  expect(decodeState(await knownItems.read())?.known.count).toBe(2);
});

test('what went while the place was not known is new when it comes again', async () => {
  await restart({ pageSize: 2 });
  for (let n = 0; n < 9; n += 1) server.put({ id: `old ${n}` });
  const { poll } = polls();
  await round(poll, enough);
  server.remove('old 3');
  server.expireTokens();
  expect(await round(poll, enough)).toEqual([]);
  server.put({ id: 'old 3' });
  expect(await round(poll, enough)).toEqual(['added old 3']);
});

test('what changes or is moved away while all is gone through is known once, or not', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  for (const id of ['changed', 'moved', 'old']) server.put({ id, parent: 'in' });
  const { poll, knownItems } = polls({ folderId: 'in' });
  for (let n = 0; n < 4; n += 1) await poll(enough);
  server.write('changed');
  server.put({ id: 'moved', parentReference: { id: 'root-id' } });
  expect(await round(poll, enough)).toEqual([]);
  expect(decodeState(await knownItems.read())?.known.count).toBe(2);
  server.put({ id: 'moved', parent: 'in' });
  server.write('changed');
  expect((await round(poll, enough)).toSorted()).toEqual(['added moved', 'modified changed']);
});

test('files whose folder is listed after them, by another poll, are found all the same', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'old', parent: 'deep' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'beside', folder: {} });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  expect(await round(poll, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'beside' });
  server.write('old');
  server.put({ id: 'beside', folder: {}, parent: 'deep' });
  expect((await round(poll, enough)).toSorted()).toEqual(['added new', 'modified old']);
  server.put({ id: 'old', parentReference: { id: 'root-id' } });
  server.put({ id: 'newer', parent: 'beside' });
  server.put({ id: 'beside', name: 'another name' });
  server.expireTokens();
  expect(await round(poll, enough)).toEqual(['added newer']);
});

test('what lies in a folder that was moved away is not watched, though it is listed before that folder', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await round(poll, enough);
  server.put({ id: 'below', parentReference: { id: 'root-id' } });
  expect(await round(poll, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'deep' });
  expect(await round(poll, enough)).toEqual([]);
});

test('where Microsoft knows the place no more, all is compared with what was known, so that nothing is lost', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 25; n += 1) server.put({ id: `old ${n}` });
  const { poll } = polls();
  await round(poll, enough);
  server.put({ id: 'new' });
  for (const id of ['old 0', 'old 7', 'old 24']) server.write(id);
  server.expireTokens();
  expect((await round(poll, enough)).toSorted()).toEqual([
    'added new',
    'modified old 0',
    'modified old 24',
    'modified old 7',
  ]);
});

test('a first poll from a point in time brings what came since then', async () => {
  server.put({ id: 'before', lastModifiedDateTime: '2026-01-01T00:00:00Z' });
  server.put({ id: 'after', lastModifiedDateTime: '2026-01-03T00:00:00Z' });
  const { poll } = polls();
  expect((await poll({}, new Date('2026-01-02T00:00:00Z'))).events).toEqual([]);
  expect(await round(poll)).toEqual(['added after']);
});

test.each<[GraphFault, string, number | undefined]>([
  ['unauthorized', 'Rejected', undefined],
  ['forbidden', 'Rejected', undefined],
  ['notFound', 'FolderMissing', undefined],
  ['tooManyRequests', 'RateLimited', 17],
  ['unavailable', 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])(
  'a OneDrive that answers with "%s" is %s, and nothing is lost',
  async (fault, reason, retryAfterSeconds) => {
    const { poll } = polls();
    await poll();
    server.put({ id: 'new' });
    server.setFault(fault);
    const error: unknown = await poll().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
    expect(String(error)).not.toContain('good-token');
    server.setFault(undefined);
    expect(await round(poll)).toEqual(['added new']);
  },
);

test('a OneDrive that does not even list what is in it is told', async () => {
  server.setFault('gone', '/delta');
  await expect(polls().poll()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('where folders are listed with what lies in them, all is gone through once', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { poll } = polls({ folderId: 'in', includeSubfolders: true });
  await round(poll);
  const listed = () => server.requests.filter((request) => request.includes('/delta?%24select')).length;
  expect(listed()).toBe(1);
  server.put({ id: 'next', folder: {}, parent: 'in' });
  await round(poll);
  expect(listed()).toBe(2);
  server.put({ id: 'new', parent: 'next' });
  expect(await round(poll)).toEqual(['added new']);
  expect(listed()).toBe(2);
});

test('the top with all that lies below it is all that there is, which is never gone through twice', async () => {
  const { poll } = polls({ folderId: 'root', includeSubfolders: true });
  await round(poll);
  server.requests.length = 0;
  server.put({ id: 'next', folder: {} });
  server.put({ id: 'new', parent: 'next' });
  expect(await round(poll)).toEqual(['added new']);
  expect(server.requests).toHaveLength(2);
});

test('a page that leads to another place is not asked for', async () => {
  server.setFault('otherHost', '/delta');
  await expect(polls().poll()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('a folder that is not there, is a file, or is gone is told', async () => {
  server.put({ id: 'file' });
  for (const folderId of ['missing', 'file'])
    await expect(polls({ folderId }).poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', folder: {} });
  const { poll } = polls({ folderId: 'in' });
  await poll();
  server.remove('in');
  await expect(poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'new', parent: 'in' });
  expect(await round(poll)).toEqual(['added new']);
});

test.each([false, true])(
  'a folder that is moved and renamed is the same one (with those below: %o)',
  async (below) => {
    server.put({ id: 'in', folder: {} });
    server.put({ id: 'elsewhere', folder: {} });
    server.put({ id: 'old', parent: 'in' });
    const { poll } = polls({ folderId: 'in', includeSubfolders: below });
    await round(poll);
    server.put({ id: 'in', name: 'another name', parent: 'elsewhere' });
    expect(await round(poll)).toEqual([]);
    server.put({ id: 'new', parent: 'in' });
    server.write('old');
    expect((await round(poll)).toSorted()).toEqual(['added new', 'modified old']);
  },
);

test('another account behind the same credential is a new beginning', async () => {
  const { cursor } = await polls().poll();
  await restart({ driveId: 'b!other' });
  server.put({ id: 'of the other one' });
  const other = polls();
  await other.poll();
  other.goBackTo(cursor);
  expect(await other.poll()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another account'),
  });
});
