/** Sheets that take longer to be read than a poll may take. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { changesOf, googlePolls } from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';
import type { Polled } from '../../contract/poller.ts';
import { decodeState, encodeState } from './state.ts';
import { DIGEST_BYTES, type Row } from './rows.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

/** So short is the time of a poll that it reads one part. */
const slow = { enough: AbortSignal.abort() };
/** 500 rows a part. */
const WIDE = { columnCount: 200 };
const HEADER = ['Order', 'Text'];
const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => [`a${index}`, `text ${index}`]);
const readsOf = ({ requests }: SheetsServer) =>
  requests.filter((request) => request.includes('/values/')).map((request) => /!(\w+)%3A/.exec(request)?.[1]);

const changeNames = (polled: Polled) => changesOf(polled).map(({ event, row }) => `${event} ${row}`);

test('it is read by several polls, each of which goes on where the one before ended', async () => {
  server.put('orders', [HEADER, ...rowsOf(1_700)], WIDE);
  const orders = watch({ keyColumn: 'Order' });
  for (const next of [500, 1_000, 1_500])
    expect(await orders.poll(slow)).toMatchObject({
      events: [],
      more: true,
      cursor: { reading: { next } },
    });
  expect(await orders.poll(slow)).toMatchObject({ events: [], more: false });
  expect(readsOf(server)).toEqual(['A1', 'A501', 'A1001', 'A1501']);
  expect((await orders.poll(slow)).more).toBe(false);
  const rows = rowsOf(1_700);
  rows.splice(1_200, 1);
  server.put('orders', [HEADER, ...rows, ['new', 'x']], WIDE);
  server.requests.length = 0;
  expect(changeNames(await orders.pollAll(slow))).toEqual(['removed 1202', 'added 1701']);
  expect(readsOf(server)).toEqual(['A1', 'A501', 'A1001', 'A1501']);
});

test('what several polls find is what one finds, whatever happened to rows and columns', async () => {
  const many = rowsOf(1_200).map(([key = '', text = ''], index) => [
    // One key stands there three times, in each part once.
    index % 450 === 20 ? 'twice' : key,
    text,
    index,
  ]);
  const header = [...HEADER, 'Sum'];
  const cut = 'long '.repeat(40_000);
  const states = [
    [header, ...many],
    [header, ...many.toReversed()],
    [header, ...many.map((row, index) => (index % 400 === 30 ? [row[0], cut, -1] : row))],
    [['Order', 'Sum', 'What', 'New'], ...many.map(([key, text, sum]) => [key, sum, text, 'x'])],
    [['Order', 'What'], ...many.slice(5).map(([key, text]) => [key, text])],
    [['Order', 'What'], ...many.slice(5, 900).map(([key, text], index) => [key, index === 600 ? '!' : text])],
  ] as (string | number)[][][];
  for (const fields of [{ keyColumn: 'Order' }, {}, { header: false }, { perRow: true }]) {
    const [quickly, slowly] = [watch(fields), watch(fields)];
    for (const state of states) {
      server.put('orders', state, WIDE);
      const [quick, late] = [await quickly.pollAll(), await slowly.pollAll(slow)];
      expect(late.events).toEqual(quick.events);
    }
  }
}, 60_000);

test('what was read before a failure in the middle is not read again', async () => {
  server.put('orders', [HEADER, ...rowsOf(1_700)], WIDE);
  const orders = watch();
  server.setFault('tooManyRequests', { path: 'A1001' });
  const error = { reason: 'RateLimited', retryAfterSeconds: 17 };
  await expect(orders.pollAll()).rejects.toMatchObject(error);
  expect(readsOf(server)).toEqual(expect.arrayContaining(['A1', 'A501', 'A1001']));
  server.requests.length = 0;
  await expect(orders.pollAll()).rejects.toMatchObject(error);
  server.setFault(undefined);
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  expect(readsOf(server)).toEqual(expect.arrayContaining(['A1001', 'A1501']));
  expect(readsOf(server)).not.toEqual(expect.arrayContaining(['A501']));
});

test('a part that does not come ends the poll that has another one, and has the next one for itself', async () => {
  server.put('orders', [HEADER, ...rowsOf(1_200)], WIDE);
  const orders = watch();
  server.setFault('hang', { path: 'A501' });
  const enough = new AbortController();
  server.onRequest((request) => request.includes('A501') && enough.abort());
  expect(await orders.poll({ enough: enough.signal })).toMatchObject({
    more: true,
    cursor: { reading: { next: 500 } },
  });
  const deadline = new AbortController();
  server.onRequest((request) => request.includes('A501') && deadline.abort(new Error('the deadline')));
  await expect(orders.poll({ ...slow, signal: deadline.signal })).rejects.toThrow('the deadline');
  server.onRequest(undefined);
  server.setFault(undefined);
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
});

test('changed between two polls it is started over, three times at most, and nothing is lost', async () => {
  const rows = rowsOf(1_200);
  server.put('orders', [HEADER, ...rows], WIDE);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  const found: string[] = [];
  server.requests.length = 0;
  const perPoll: (number | undefined)[] = [];
  for (let poll = 0; poll < 9; poll += 1) {
    server.put('orders', [HEADER, ...rows, ...Array.from({ length: poll + 1 }, (_, n) => [`new${n}`])], WIDE);
    const polled = await orders.poll(slow);
    perPoll.push((polled.cursor as { reading?: { next: number } }).reading?.next);
    found.push(...changeNames(polled));
  }
  // Three times from the beginning, and then on.
  expect(perPoll.slice(0, 6)).toEqual([500, 500, 500, 500, 1_000, undefined]);
  found.push(...changeNames(await orders.pollAll()));
  expect(found).toEqual(Array.from({ length: 9 }, (_, n) => `added ${1_202 + n}`));
});

test('a poll that is killed in the middle is repeated, and what was stored in vain is read again', async () => {
  const rows = rowsOf(1_200);
  server.put('orders', [HEADER, ...rows], WIDE);
  const orders = watch();
  await orders.poll(slow);
  const first = await orders.state();
  orders.restore({ ...first, bytes: undefined });
  expect(await orders.pollAll(slow)).toMatchObject({ events: [], more: false });
  server.put('orders', [HEADER, ...rows.slice(1)], WIDE);
  await orders.poll(slow);
  const second = await orders.state();
  await orders.poll(slow);
  orders.restore(second);
  expect(changeNames(await orders.pollAll(slow))).toEqual(['removed 2']);
  server.put('orders', [HEADER, ...rows.slice(2)], WIDE);
  await orders.poll(slow);
  orders.restore({ ...(await orders.state()), bytes: Buffer.from('damaged') });
  const polled = await orders.pollAll(slow);
  expect(polled).toMatchObject({ events: [], baselineLost: expect.stringContaining('are lost') });
});

test('what is remembered of the largest sheet has room, also of one that nothing compresses', async () => {
  const digest = () => randomBytes(DIGEST_BYTES).toString('base64');
  const row = (_: unknown, number: number): Row => ({
    number,
    id: digest(),
    content: digest(),
    contentBefore: digest(),
    cells: [randomBytes(13).toString('base64')],
  });
  const rows = Array.from({ length: 100_000 }, row);
  const changed = new Set(rows.slice(90_000));
  const begun = { names: ['A'], rows };
  const bytes = await encodeState({ names: ['A'], rows, pending: [], begun }, (each) => !changed.has(each));
  expect(bytes.length).toBeLessThanOrEqual(8 * 2 ** 20);
  const read = (await decodeState(bytes))?.begun();
  expect(read?.rows.slice(90_000)).toEqual(rows.slice(90_000));
  expect(read?.rows[0]).toEqual({ ...rows[0], cells: undefined });
});
