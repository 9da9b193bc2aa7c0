/** File triggers on a bucket that fails, forgets, and is large. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  startBucketServer,
  type BucketFault,
  type BucketServer,
} from '../../../test/support/providers/s3/bucketServer.ts';
import { filePolls, fileEventNames, fileEventsOf } from '../../../test/support/nodes/polls.ts';
import type { PollContext } from '../../contract/poller.ts';

let server: BucketServer;
beforeEach(async () => {
  server = await startBucketServer();
});
afterEach(() => server.close());

async function restart(pageSize: number): Promise<void> {
  await server.close();
  server = await startBucketServer({ pageSize });
}

const polls = (fields: object = {}) =>
  filePolls(
    {
      s3: {
        endpoint: server.url,
        bucket: 'orders',
        accessKeyIdRef: { name: 'files', key: 'id' },
        secretAccessKeyRef: { name: 'files', key: 'secret' },
      },
    },
    { id: 'key-id-1234', secret: 'correct-horse' },
    fields,
  );

/** What is enough from the beginning on: each poll ends after one page. */
const enough: Partial<PollContext> = { enough: AbortSignal.abort() };
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => `file ${String(n).padStart(6, '0')}`);

test.each<[BucketFault, string, string, number | undefined]>([
  ['unauthorized', 'Rejected', 'refused the keys', undefined],
  ['AccessDenied', 'Rejected', 'refused the keys', undefined],
  ['NoSuchBucket', 'FolderMissing', 'has no bucket orders', undefined],
  ['RequestTimeTooSkewed', 'Rejected', 'the clocks of', undefined],
  [
    'PermanentRedirect',
    'Rejected',
    'is in another region: correct region and endpoint (eu-west-1)',
    undefined,
  ],
  ['tooManyRequests', 'RateLimited', 'limits the rate', 17],
  ['SlowDown', 'RateLimited', 'limits the rate', 17],
  ['InternalError', 'UpstreamError', 'failed', undefined],
  ['garbage', 'InvalidAnswer', 'invalid body', undefined],
  ['halfAList', 'InvalidAnswer', 'invalid body', undefined],
  ['endless', 'InvalidAnswer', 'more than 8388608 bytes', undefined],
])('a bucket that answers with "%s" is %s', async (fault, reason, message, retryAfterSeconds) => {
  const { poll } = polls();
  await poll();
  server.put('a');
  server.setFault(fault);
  const error: unknown = await poll().catch((error: unknown) => error);
  expect(error).toMatchObject({
    name: 'PollError',
    reason,
    message: expect.stringContaining(message),
    retryAfterSeconds,
  });
  expect(String(error)).not.toContain('key-id-1234');
  server.setFault(undefined);
  expect(fileEventNames(await poll())).toEqual(['added a']);
});

test('a connection that breaks off is Unreachable, and nothing is lost', async () => {
  const { poll } = polls();
  await poll();
  server.put('a');
  server.setFault('drop');
  await expect(poll()).rejects.toMatchObject({ reason: 'Unreachable' });
  server.setFault(undefined);
  expect(fileEventNames(await poll())).toEqual(['added a']);
});

test('a poll that must end ends', async () => {
  server.setFault('hang');
  const controller = new AbortController();
  const polling = polls()
    .poll({ signal: controller.signal })
    .catch((error: unknown) => error);
  controller.abort(new Error('the deadline'));
  expect(await polling).toEqual(new Error('the deadline'));
});

test('what was asked about before a failure counts, and the rest comes with the next poll', async () => {
  const { poll } = polls();
  await poll();
  for (const name of numbered(20)) server.put(name);
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    if (request.includes('000010')) server.setFault('InternalError', 'HEAD');
    return log(request);
  };
  const found = await poll();
  expect(found.more).toBe(true);
  server.requests.push = log;
  server.setFault(undefined);
  const rest = await poll();
  expect([...fileEventNames(found), ...fileEventNames(rest)]).toEqual(
    numbered(20).map((name) => `added ${name}`),
  );
});

test('an account that may list and not read brings files without their type, unless types are asked for', async () => {
  const { poll } = polls();
  await poll();
  server.put('a');
  server.setFault('AccessDenied', 'HEAD');
  expect(fileEventsOf(await poll())[0]?.file).toMatchObject({ id: 'a', mime_type: null });
  const choosy = polls({ mimeTypes: ['text/plain'] });
  await choosy.poll();
  server.put('b');
  await expect(choosy.poll()).rejects.toMatchObject({ reason: 'Rejected' });
});

test('a file that the service cannot tell of by itself, as one with a key of the customer, holds up no other', async () => {
  const { poll } = polls();
  const choosy = polls({ mimeTypes: ['text/plain'] });
  await poll();
  await choosy.poll();
  server.put('a');
  server.setFault('InvalidRequest', 'HEAD');
  expect(fileEventsOf(await poll())[0]?.file).toMatchObject({ id: 'a', mime_type: null });
  expect((await choosy.poll()).events).toEqual([]);
  server.setFault(undefined);
  server.put('b');
  expect(fileEventNames(await choosy.poll())).toEqual(['added b']);
});

test.each([
  [['*/*'], ['a', 'b']],
  [['*'], ['a', 'b']],
  [['text/*'], ['a']],
  [['TEXT/Plain'], ['a']],
  [['text/plain; charset=utf-8'], ['a']],
  [['image/*', 'application/pdf'], []],
])('%o admits %o', async (mimeTypes, expected) => {
  const { poll } = polls({ mimeTypes });
  await poll();
  server.put('a');
  server.put('b', { type: '' });
  expect(fileEventsOf(await poll()).map(({ file }) => file['id'])).toEqual(expected);
});

test('a file that is written again while it is checked is shown as it was, and then as it is', async () => {
  const { poll } = polls();
  await poll();
  server.put('a', { etag: '"first"', size: 1 });
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    if (request.startsWith('GET')) queueMicrotask(() => server.put('a', { etag: '"second"', size: 2 }));
    return log(request);
  };
  expect(fileEventsOf(await poll())).toMatchObject([{ event: 'added', file: { id: 'a', size: 1 } }]);
  server.requests.push = log;
  expect(fileEventsOf(await poll())).toMatchObject([{ event: 'modified', file: { id: 'a', size: 2 } }]);
});

test('an older version that is restored is another one, whatever its time', async () => {
  const { poll } = polls();
  server.put('a', { etag: '"1"', modified: new Date('2026-01-01T00:00:00Z') });
  await poll();
  server.put('a', { etag: '"2"', modified: new Date('2199-01-01T00:00:00Z') });
  const [second] = (await poll()).events;
  server.put('a', { etag: '"1"', modified: new Date('2026-01-01T00:00:00Z') });
  const [restored] = (await poll()).events;
  expect(restored?.output.data_content).toMatchObject({ event: 'modified' });
  expect(restored?.key).not.toBe(second?.key);
});

test('a file that is gone when it is asked about is none', async () => {
  const { poll } = polls();
  await poll();
  for (const name of ['a', 'b', 'c']) server.put(name);
  const log = server.requests.push.bind(server.requests);
  server.requests.push = (request) => {
    if (request.startsWith('GET')) queueMicrotask(() => server.objects.delete('b'));
    return log(request);
  };
  expect(fileEventNames(await poll())).toEqual(['added a', 'added c']);
});

test('a list that takes several polls is gone through once in each round, and finds what is new, other and gone', async () => {
  await restart(10);
  for (const name of numbered(35)) server.put(name);
  const { poll } = polls();
  const round = async () => {
    const found: string[] = [];
    for (let more = true; more; ) {
      const polled = await poll(enough);
      found.push(...fileEventNames(polled));
      ({ more } = polled);
    }
    return found;
  };
  expect(await round()).toEqual([]);
  server.requests.length = 0;
  expect(await round()).toEqual([]);
  expect(server.requests).toHaveLength(4);
  server.objects.delete('file 000003');
  server.objects.delete('file 000034');
  server.put('file 000012', { etag: 'other' });
  server.put('file 000012b');
  expect((await round()).toSorted()).toEqual(['added file 000012b', 'modified file 000012']);
  expect(await round()).toEqual([]);
  server.put('file 000003');
  server.put('file 000034');
  expect(await round()).toEqual(['added file 000003', 'added file 000034']);
});

test('a token that the service takes no more has the list gone through from its beginning, and starts nothing twice', async () => {
  await restart(10);
  for (const name of numbered(25)) server.put(name);
  const { poll } = polls();
  expect(await poll(enough)).toMatchObject({ events: [], more: true });
  server.expireTokens();
  while ((await poll(enough)).more);
  server.put('new');
  const found: string[] = [];
  for (let more = true; more; ) {
    const polled = await poll(enough);
    server.expireTokens();
    found.push(...fileEventNames(polled));
    more = polled.more && found.length === 0 && server.requests.length < 100;
    if (server.requests.length === 20) break;
  }
  expect(found).toEqual([]);
  while (found.length === 0) found.push(...fileEventNames(await poll()));
  expect(found).toEqual(['added new']);
});

test('a name of 1,000 emoji, of dots and slashes, and a file of 10 GB are files like others, of which nothing is loaded', async () => {
  const { poll } = polls();
  await poll();
  const names = ['😀'.repeat(250), '../../etc/passwd', 'a/../b', './c', '/leading', 'a//b', 'x\u0001y\ny'];
  for (const name of names) server.put(name, { size: 10 * 1_024 ** 3 });
  const found = await poll();
  const byName = (names: unknown[]) => names.map(String).toSorted();
  expect(byName(fileEventsOf(found).map(({ file }) => file['id']))).toEqual(byName(names));
  for (const { file } of fileEventsOf(found)) {
    const known = /(?:^|\/)\.\.?(?:\/|$)/.test(String(file['id']))
      ? { mime_type: null, url: null }
      : { mime_type: 'text/plain' };
    expect(file).toMatchObject({ size: 10 * 1_024 ** 3, ...known });
  }
  // On the way somebody may take such a path for another one.
  expect(server.requests.filter((request) => /\/\.\.?(?:[/?]|$)/.test(request))).toEqual([]);
  expect(server.requests.some((request) => request.startsWith('GET') && request.includes('leading'))).toBe(
    false,
  );
});

test('what is known that is lost or damaged, and a cursor that cannot be read, start over and start nothing', async () => {
  server.put('old');
  const { poll, knownItems, goBackTo } = polls();
  let { cursor } = await poll();
  const lost = [
    { reading: async () => undefined, why: 'the known items are lost' },
    { reading: async () => Buffer.from('damaged bytes'), why: 'the known items are lost' },
    { given: { place: 7 }, why: 'is invalid' },
    { given: { position: 'nowhere' }, why: 'is invalid' },
  ];
  for (const [n, { reading, why, given }] of lost.entries()) {
    server.put(`meanwhile ${n}`);
    if (given) goBackTo({ ...(cursor as object), ...given });
    const store = knownItems.store.bind(knownItems);
    const read = reading ?? knownItems.read.bind(knownItems);
    expect(await poll({ knownItems: { read, store } })).toMatchObject({
      events: [],
      baselineLost: expect.stringContaining(why),
    });
    server.put(`new ${n}`);
    const found = await poll();
    expect(fileEventNames(found)).toEqual([`added new ${n}`]);
    ({ cursor } = found);
  }
});

test('where nothing happened nothing is kept', async () => {
  server.put('old');
  const { poll, stored } = polls();
  await poll();
  const before = stored();
  expect(await poll()).toMatchObject({ events: [], more: false });
  expect(stored()).toBe(before);
});

test('an object that stands for a folder is no file', async () => {
  const { poll } = polls();
  await poll();
  server.put('reports/');
  expect((await poll()).events).toEqual([]);
});
