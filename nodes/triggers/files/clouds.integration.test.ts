/** What the pollers of Google Drive and OneDrive both guarantee, against fakes of their documented APIs. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  startDrive,
  startOneDrive,
  type CloudDrive,
  type CloudDriveOptions,
} from '../../../test/support/nodes/cloudDrives.ts';
import { fileEventNames, pollFileEvents } from '../../../test/support/nodes/polls.ts';

const enough = { enough: AbortSignal.abort() };

describe.each([
  ['Google Drive', startDrive],
  ['OneDrive', startOneDrive],
] as const)('%s', (_title, start) => {
  let drive: CloudDrive;
  beforeEach(async () => {
    drive = await start();
  });
  afterEach(() => drive.close());
  const restart = async (options: CloudDriveOptions) => {
    await drive.close();
    drive = await start(options);
  };

  test('the first poll returns no events, and the next poll each file that was added or modified since, once', async () => {
    drive.put('old', drive.top);
    drive.put('changed', drive.top);
    const { poll, goBackTo } = drive.polls();
    expect(await poll()).toMatchObject({ events: [], more: false });
    drive.putDocument('new', {
      name: 'Invoice.pdf',
      mimeType: 'application/pdf',
      size: 10_737_418_240,
      modifiedTime: '2026-03-02T09:00:00.000Z',
      url: 'https://files.example/new',
    });
    drive.write('changed');
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
          folder_id: drive.top,
          url: 'https://files.example/new',
        },
      },
    });
    expect((await poll()).events).toEqual([]);
    goBackTo(found.cursor);
    expect((await poll()).events).toEqual([]);
  });

  test('a new name is no event, and neither is a file that was added and removed', async () => {
    drive.put('a', drive.top);
    const { poll } = drive.polls();
    await poll();
    drive.rename('a', 'another name');
    drive.put('b', drive.top);
    drive.remove('b');
    expect((await poll()).events).toEqual([]);
    drive.write('a');
    expect(fileEventNames(await poll())).toEqual(['modified a']);
  });

  test.each([
    ['in one poll', {}],
    ['in polls of one page each', enough],
  ])('many changes are events %s, each once', async (_title, context) => {
    await restart({ pageSize: 7 });
    for (let n = 0; n < 20; n += 1) drive.put(`old ${n}`, drive.top);
    const polls = drive.polls();
    expect(await pollFileEvents(polls.poll, context)).toEqual([]);
    const names = Array.from({ length: 45 }, (_, n) => `file ${String(n).padStart(2, '0')}`);
    for (const id of names) drive.put(id, drive.top);
    const found = await pollFileEvents(polls.poll, { ...context, limit: 10 });
    expect(found.toSorted()).toEqual(names.map((name) => `added ${name}`));
  });

  test('a folder is watched alone or with its subfolders, also when they are moved in and out', async () => {
    drive.put('in', drive.top, true);
    drive.put('below', 'in', true);
    drive.put('elsewhere', drive.top, true);
    drive.put('old', 'below');
    const alone = drive.polls({ folderId: 'in' });
    const withBelow = drive.polls({ folderId: 'in', includeSubfolders: true });
    await pollFileEvents(alone.poll);
    await pollFileEvents(withBelow.poll);
    for (const parent of ['in', 'below', 'elsewhere']) drive.put(`in ${parent}`, parent);
    expect(await pollFileEvents(alone.poll)).toEqual(['added in in']);
    expect((await pollFileEvents(withBelow.poll)).toSorted()).toEqual(['added in below', 'added in in']);
    drive.move('elsewhere', 'below');
    expect(await pollFileEvents(withBelow.poll)).toEqual(['added in elsewhere']);
    drive.move('below', drive.top);
    await pollFileEvents(withBelow.poll);
    drive.write('old');
    expect(await pollFileEvents(withBelow.poll)).toEqual([]);
    drive.move('in elsewhere', 'in');
    expect(await pollFileEvents(alone.poll)).toEqual(['added in elsewhere']);
  });

  test('after the provider lost the position, all files are compared with the known ones, so that no event is lost', async () => {
    await restart({ pageSize: 10 });
    for (let n = 0; n < 35; n += 1) drive.put(`old ${n}`, drive.top);
    const polls = drive.polls();
    expect(await pollFileEvents(polls.poll, enough)).toEqual([]);
    drive.put('new', drive.top);
    const written = ['old 0', 'old 24', 'old 7'];
    for (const id of written) drive.write(id);
    drive.remove('old 3');
    drive.expireTokens();
    const expected = ['added new', ...written.map((id) => `modified ${id}`)];
    expect((await pollFileEvents(polls.poll, enough)).toSorted()).toEqual(expected);
    drive.put('old 3', drive.top);
    expect(await pollFileEvents(polls.poll)).toEqual(['added old 3']);
  });

  test.each([
    ['unauthorized', 'Rejected', undefined],
    ['forbidden', 'Rejected', undefined],
    ['tooManyRequests', 'RateLimited', 17],
    ['unavailable', 'UpstreamError', undefined],
    ['drop', 'Unreachable', undefined],
    ['garbage', 'InvalidAnswer', undefined],
  ] as const)(
    'the answer "%s" fails the poll as %s, and no event is lost',
    async (fault, reason, retryAfterSeconds) => {
      const polls = drive.polls();
      await polls.poll();
      drive.put('new', drive.top);
      drive.setFault(fault);
      const error: unknown = await polls.poll().catch((error: unknown) => error);
      expect(error).toMatchObject({ name: 'PollError', reason, retryAfterSeconds });
      expect(String(error)).not.toContain('good-token');
      drive.setFault(undefined);
      expect(await pollFileEvents(polls.poll)).toEqual(['added new']);
    },
  );

  test('a watched folder that is missing, is a file or was removed is reported until it is back', async () => {
    drive.put('file', drive.top);
    for (const folderId of ['missing', 'file'])
      await expect(drive.polls({ folderId }).poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
    drive.put('in', drive.top, true);
    const polls = drive.polls({ folderId: 'in' });
    await polls.poll();
    drive.remove('in');
    await expect(polls.poll()).rejects.toMatchObject({ reason: 'FolderMissing' });
    drive.put('in', drive.top, true);
    drive.put('new', 'in');
    expect(await pollFileEvents(polls.poll)).toEqual(['added new']);
  });

  test('another account behind the same credential starts from a new baseline', async () => {
    const { cursor } = await drive.polls().poll();
    await restart({ account: 'another' });
    drive.put('of the other account', drive.top);
    const other = drive.polls();
    await other.poll();
    other.goBackTo(cursor);
    expect(await other.poll()).toMatchObject({
      events: [],
      baselineLost: expect.stringContaining('another account'),
    });
  });
});
