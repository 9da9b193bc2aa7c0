/** File triggers on OneDrive, against a server that speaks Microsoft Graph's documented wire format. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import { fileLooks, inShort } from '../../../test/support/fileLook.ts';
import {
  startGraphServer,
  type GraphFault,
  type GraphOptions,
  type GraphServer,
} from '../../../test/support/graphServer.ts';
import type { Polled } from '../../poller.ts';
import { decodeMemory } from '../../triggers/files/state.ts';

let server: GraphServer;
beforeEach(async () => {
  server = await startGraphServer();
});
afterEach(() => server.close());

const looks = (fields: Partial<FileStorageTrigger> = {}) =>
  fileLooks(
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
async function round(look: ReturnType<typeof looks>['look'], context: object = {}): Promise<string[]> {
  const found: string[] = [];
  let polled: Polled;
  do {
    polled = await look(context);
    found.push(...inShort(polled));
  } while (polled.more);
  return found;
}

test('the first look brings nothing, and the next what was added and modified since, once', async () => {
  server.put({ id: 'old' });
  server.put({ id: 'changed' });
  const { look, goBackTo } = looks();
  expect(await look()).toMatchObject({ events: [], more: false });
  server.put({
    id: 'new',
    name: 'Invoice.pdf',
    file: { mimeType: 'application/pdf' },
    size: 10_737_418_240,
    lastModifiedDateTime: '2026-03-02T09:00:00Z',
    webUrl: 'https://onedrive.live.com/?id=new',
  });
  server.write('changed');
  const found = await look();
  expect(inShort(found)).toEqual(['added new', 'modified changed']);
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
  expect((await look()).events).toEqual([]);
  goBackTo(found.cursor);
  expect((await look()).events).toEqual([]);
});

test('another name is no event, and neither is a file that is gone', async () => {
  server.put({ id: 'a' });
  const { look } = looks();
  await look();
  server.put({ id: 'a', name: 'another name' });
  server.put({ id: 'b' });
  server.remove('b');
  expect((await look()).events).toEqual([]);
});

test('names are shown as they are, and times as the OneDrive says', async () => {
  const { look } = looks();
  await look();
  const names = ['😀'.repeat(1_000), '../../etc/passwd', ''];
  const times = ['1970-01-01T00:00:00Z', '2199-01-01T00:00:00Z', 'no time'];
  for (const [n, name] of names.entries())
    server.put({ id: `file ${n}`, name, lastModifiedDateTime: times[n] ?? '' });
  const found = await look();
  expect(found.events.map(({ output }) => output.text_content).toSorted()).toEqual(names.toSorted());
  expect((await look()).events).toEqual([]);
});

test('folders that lie in one another end nowhere, and what is no file is none', async () => {
  server.put({ id: 'in', folder: {} });
  const { look } = looks({ folderId: 'in', includeSubfolders: true });
  await round(look);
  server.put({ id: 'a', folder: {}, parent: 'b' });
  server.put({ id: 'b', folder: {}, parent: 'a' });
  server.put({ id: 'lost', parent: 'a' });
  server.put({ id: 'notebook', parent: 'in', package: { type: 'oneNote' }, file: undefined } as object & {
    id: string;
  });
  server.put({ id: 'new', parent: 'in' });
  expect(await round(look)).toEqual(['added new']);
});

test('many changes come in pages, none twice and none left out, also where each look has one page', async () => {
  await restart({ pageSize: 7 });
  for (let n = 0; n < 20; n += 1) server.put({ id: `old ${n}` });
  const { look } = looks();
  expect(await round(look, enough)).toEqual([]);
  const names = Array.from({ length: 45 }, (_, n) => `file ${String(n).padStart(2, '0')}`);
  for (const id of names) server.put({ id });
  const found = await round(look, { ...enough, limit: 10 });
  expect(found.toSorted()).toEqual(names.map((name) => `added ${name}`));
});

test('a folder is watched alone, or with those below it, also when they come and go', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'elsewhere', folder: {} });
  server.put({ id: 'old', parent: 'below' });
  const alone = looks({ folderId: 'in' });
  const withBelow = looks({ folderId: 'in', includeSubfolders: true });
  await round(alone.look);
  await round(withBelow.look);
  for (const parent of ['in', 'below', 'elsewhere']) server.put({ id: `in ${parent}`, parent });
  expect(await round(alone.look)).toEqual(['added in in']);
  expect((await round(withBelow.look)).toSorted()).toEqual(['added in below', 'added in in']);
  server.put({ id: 'elsewhere', parent: 'below' });
  expect(await round(withBelow.look)).toEqual(['added in elsewhere']);
  server.put({ id: 'below', parentReference: { id: 'root-id' } });
  await round(withBelow.look);
  server.write('old');
  expect(await round(withBelow.look)).toEqual([]);
});

test('what is known is what is there, however often folders come and go', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { look, memory } = looks({ folderId: 'in', includeSubfolders: true });
  await round(look);
  for (let n = 0; n < 5; n += 1) {
    server.put({ id: `folder ${n}`, folder: {}, parent: 'in' });
    server.put({ id: `file ${n}`, parent: `folder ${n}` });
    expect(await round(look)).toEqual([`added file ${n}`]);
    server.remove(`file ${n}`);
    server.remove(`folder ${n}`);
    expect(await round(look)).toEqual([]);
  }
  server.expireTokens();
  expect(await round(look)).toEqual([]);
  // A file and the folder that it lies in.
  expect(decodeMemory(await memory.read())?.known.count).toBe(2);
});

test('what went while the place was not known is new when it comes again', async () => {
  await restart({ pageSize: 2 });
  for (let n = 0; n < 9; n += 1) server.put({ id: `old ${n}` });
  const { look } = looks();
  await round(look, enough);
  server.remove('old 3');
  server.expireTokens();
  expect(await round(look, enough)).toEqual([]);
  server.put({ id: 'old 3' });
  expect(await round(look, enough)).toEqual(['added old 3']);
});

test('what changes or is moved away while all is gone through is known once, or not', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  for (const id of ['changed', 'moved', 'old']) server.put({ id, parent: 'in' });
  const { look, memory } = looks({ folderId: 'in' });
  for (let n = 0; n < 4; n += 1) await look(enough);
  server.write('changed');
  server.put({ id: 'moved', parentReference: { id: 'root-id' } });
  expect(await round(look, enough)).toEqual([]);
  expect(decodeMemory(await memory.read())?.known.count).toBe(2);
  server.put({ id: 'moved', parent: 'in' });
  server.write('changed');
  expect((await round(look, enough)).toSorted()).toEqual(['added moved', 'modified changed']);
});

test('files whose folder is listed after them, by another look, are found all the same', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'old', parent: 'deep' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'beside', folder: {} });
  const { look } = looks({ folderId: 'in', includeSubfolders: true });
  expect(await round(look, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'beside' });
  server.write('old');
  server.put({ id: 'beside', folder: {}, parent: 'deep' });
  expect((await round(look, enough)).toSorted()).toEqual(['added new', 'modified old']);
  server.put({ id: 'old', parentReference: { id: 'root-id' } });
  server.put({ id: 'newer', parent: 'beside' });
  server.put({ id: 'beside', name: 'another name' });
  server.expireTokens();
  expect(await round(look, enough)).toEqual(['added newer']);
});

test('what lies in a folder that was moved away is not watched, though it is listed before that folder', async () => {
  await restart({ pageSize: 1 });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'deep', folder: {}, parent: 'below' });
  const { look } = looks({ folderId: 'in', includeSubfolders: true });
  await round(look, enough);
  server.put({ id: 'below', parentReference: { id: 'root-id' } });
  expect(await round(look, enough)).toEqual([]);
  server.put({ id: 'new', parent: 'deep' });
  expect(await round(look, enough)).toEqual([]);
});

test('where Microsoft knows the place no more, all is compared with what was known, so that nothing is lost', async () => {
  await restart({ pageSize: 10 });
  for (let n = 0; n < 25; n += 1) server.put({ id: `old ${n}` });
  const { look } = looks();
  await round(look, enough);
  server.put({ id: 'new' });
  for (const id of ['old 0', 'old 7', 'old 24']) server.write(id);
  server.expireTokens();
  expect((await round(look, enough)).toSorted()).toEqual([
    'added new',
    'modified old 0',
    'modified old 24',
    'modified old 7',
  ]);
});

test('a first look from a point in time brings what came since then', async () => {
  server.put({ id: 'before', lastModifiedDateTime: '2026-01-01T00:00:00Z' });
  server.put({ id: 'after', lastModifiedDateTime: '2026-01-03T00:00:00Z' });
  const { look } = looks();
  expect((await look({}, new Date('2026-01-02T00:00:00Z'))).events).toEqual([]);
  expect(await round(look)).toEqual(['added after']);
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
    const { look } = looks();
    await look();
    server.put({ id: 'new' });
    server.setFault(fault);
    const error: unknown = await look().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
    expect(String(error)).not.toContain('good-token');
    server.setFault(undefined);
    expect(await round(look)).toEqual(['added new']);
  },
);

test('a OneDrive that does not even list what is in it is told', async () => {
  server.setFault('gone', '/delta');
  await expect(looks().look()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('where folders are listed with what lies in them, all is gone through once', async () => {
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'below', folder: {}, parent: 'in' });
  server.put({ id: 'old', parent: 'below' });
  const { look } = looks({ folderId: 'in', includeSubfolders: true });
  await round(look);
  const listed = () => server.requests.filter((request) => request.includes('/delta?%24select')).length;
  expect(listed()).toBe(1);
  server.put({ id: 'next', folder: {}, parent: 'in' });
  await round(look);
  expect(listed()).toBe(2);
  server.put({ id: 'new', parent: 'next' });
  expect(await round(look)).toEqual(['added new']);
  expect(listed()).toBe(2);
});

test('the top with all that lies below it is all that there is, which is never gone through twice', async () => {
  const { look } = looks({ folderId: 'root', includeSubfolders: true });
  await round(look);
  server.requests.length = 0;
  server.put({ id: 'next', folder: {} });
  server.put({ id: 'new', parent: 'next' });
  expect(await round(look)).toEqual(['added new']);
  expect(server.requests).toHaveLength(2);
});

test('a page that leads to another place is not asked for', async () => {
  server.setFault('otherHost', '/delta');
  await expect(looks().look()).rejects.toMatchObject({ reason: 'InvalidAnswer' });
});

test('a folder that is not there, is a file, or is gone is told', async () => {
  server.put({ id: 'file' });
  for (const folderId of ['missing', 'file'])
    await expect(looks({ folderId }).look()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', folder: {} });
  const { look } = looks({ folderId: 'in' });
  await look();
  server.remove('in');
  await expect(look()).rejects.toMatchObject({ reason: 'FolderMissing' });
  server.put({ id: 'in', folder: {} });
  server.put({ id: 'new', parent: 'in' });
  expect(await round(look)).toEqual(['added new']);
});

test.each([false, true])(
  'a folder that is moved and renamed is the same one (with those below: %o)',
  async (below) => {
    server.put({ id: 'in', folder: {} });
    server.put({ id: 'elsewhere', folder: {} });
    server.put({ id: 'old', parent: 'in' });
    const { look } = looks({ folderId: 'in', includeSubfolders: below });
    await round(look);
    server.put({ id: 'in', name: 'another name', parent: 'elsewhere' });
    expect(await round(look)).toEqual([]);
    server.put({ id: 'new', parent: 'in' });
    server.write('old');
    expect((await round(look)).toSorted()).toEqual(['added new', 'modified old']);
  },
);

test('another account behind the same credential is a new beginning', async () => {
  const { cursor } = await looks().look();
  await restart({ driveId: 'b!other' });
  server.put({ id: 'of the other one' });
  const other = looks();
  await other.look();
  other.goBackTo(cursor);
  expect(await other.look()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another account'),
  });
});
