/** Spreadsheets that are larger than what is read or remembered at a time. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { changesOf, googlePolls, sheetEventsOf } from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

const HEADER = ['Order', 'Text'];
const rowsOf = (count: number, length = 10) =>
  Array.from({ length: count }, (_, index) => [`a${index}`, `${index} `.padEnd(length, 'lorem ipsum ')]);
const WIDE = { columnCount: 200 };

test('a sheet of several parts is read part by part, and its changes are found in each', async () => {
  const rows = rowsOf(1_700);
  server.put('orders', [HEADER, ...rows], WIDE);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  const parts = server.requests.filter((request) => request.includes('/values/'));
  expect(parts.map((request) => decodeURIComponent(request).replace(/\?.*/, ''))).toEqual([
    "GET /v4/spreadsheets/orders/values/'Sheet1'!A1:GR500",
    "GET /v4/spreadsheets/orders/values/'Sheet1'!A501:GR1000",
    "GET /v4/spreadsheets/orders/values/'Sheet1'!A1001:GR1500",
    "GET /v4/spreadsheets/orders/values/'Sheet1'!A1501:GR1701",
  ]);
  const changed = rows.map((row, index) => (index % 800 === 10 ? [row[0] ?? '', 'changed'] : row));
  server.put('orders', [HEADER, ...changed], WIDE);
  expect(changesOf(await orders.pollAll()).map(({ row }) => row)).toEqual([12, 812, 1612]);
});

test('a sheet that is changed while it is read in parts is read again by the next poll, and not for ever', async () => {
  server.put('orders', [HEADER, ...rowsOf(1_200)], WIDE);
  const orders = watch({ keyColumn: 'Order' });
  const isEnd = (request: string) => request.includes('A1001');
  server.onRequest((request) => isEnd(request) && server.touch('orders'));
  for (let time = 1; time <= 3; time += 1)
    expect(await orders.pollAll()).toMatchObject({ events: [], more: false, cursor: { torn: time } });
  expect((await orders.pollAll()).cursor).not.toHaveProperty('torn');
  // A row moves from the end, which was not read yet, to the beginning, which was.
  const moved = rowsOf(1_200);
  moved.unshift(...moved.splice(1_150, 1));
  let isMoved = false;
  server.onRequest((request) => {
    if (!isEnd(request) || isMoved) return;
    isMoved = true;
    server.put('orders', [HEADER, ...moved], WIDE);
  });
  server.touch('orders');
  expect(await orders.pollAll()).toMatchObject({ events: [], cursor: { torn: 1 } });
  expect(await orders.pollAll()).toMatchObject({ events: [] });
});

test('an account that loses its access in the middle of a sheet loses no change', async () => {
  const rows = rowsOf(1_200);
  server.put('orders', [HEADER, ...rows], WIDE);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  server.put('orders', [HEADER, ...rows.slice(1), ['b1', 'new']], WIDE);
  server.setFault('forbidden', { after: 2, path: '/values/' });
  await expect(orders.pollAll()).rejects.toMatchObject({ reason: 'Rejected' });
  server.setFault(undefined);
  expect(changesOf(await orders.pollAll()).map(({ event, row }) => `${event} ${row}`)).toEqual([
    'removed 2',
    'added 1201',
  ]);
});

test('more changes than can be remembered come batch by batch, each once', async () => {
  server.put('orders', [HEADER]);
  const orders = watch({ keyColumn: 'Order', perRow: true });
  await orders.pollAll();
  server.put('orders', [HEADER, ...rowsOf(300, 10_000)]);
  const found = await orders.pollAll();
  expect(changesOf(found).map(({ values }) => values?.['Order'])).toEqual(rowsOf(300).map(([key]) => key));
  expect(new Set(found.events.map(({ key }) => key)).size).toBe(300);
  const reads = server.requests.filter((request) => request.includes('/values/'));
  expect(reads).toHaveLength(3);
  server.touch('orders');
  expect((await orders.pollAll()).events).toEqual([]);
});

test('without a key, too, more changes than can be remembered come batch by batch, each once', async () => {
  const rows = rowsOf(600, 10_000);
  server.put('orders', [HEADER, ...rows.slice(0, 100)]);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [HEADER, ...rows.slice(300), ...rows.slice(0, 50)]);
  const changes = changesOf(await orders.pollAll());
  const [added, removed] = ['added', 'removed'].map((event) =>
    changes.filter((change) => change.event === event),
  );
  expect(added).toHaveLength(300);
  expect(removed).toHaveLength(50);
  server.touch('orders');
  expect((await orders.pollAll()).events).toEqual([]);
});

test('changes that are too many for one run are several runs, none above what an event may have', async () => {
  server.put('orders', [HEADER]);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [HEADER, ...rowsOf(300, 1_000)]);
  const { events } = await orders.pollAll({ maxEventBytes: 100_000, limit: 2 });
  expect(events).toHaveLength(4);
  for (const { output } of events) expect(JSON.stringify(output).length).toBeLessThan(100_000);
  expect(changesOf({ events, cursor: undefined, more: false })).toHaveLength(300);
});

test('of cells that have more text than an event may have the beginning comes, and it is said', async () => {
  server.put('orders', [HEADER]);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [HEADER, ['a1', 'ü'.repeat(50_000)], ['a2', '😀'.repeat(100_000), 7]]);
  const found = await orders.pollAll({ maxEventBytes: 100_000 });
  expect(sheetEventsOf(found).map(({ truncated }) => truncated)).toEqual([true, true]);
  for (const { output } of found.events) {
    const text = JSON.stringify(output);
    expect(Buffer.byteLength(text)).toBeLessThan(100_000);
    expect(text).toContain('…');
  }
  server.put('orders', [HEADER, ['a1', `${'ü'.repeat(49_999)}u`], ['a2', '😀'.repeat(100_000), 7]]);
  expect(changesOf(await orders.pollAll())).toMatchObject([{ row: 2, event: 'updated' }]);
});

test('events have the previous values while all rows are small enough to be stored', async () => {
  server.put('orders', [HEADER, ...rowsOf(150, 10_000)]);
  const small = watch({ keyColumn: 'Order' });
  await small.pollAll();
  server.put('orders', [HEADER, ['a0', 'short'], ...rowsOf(150, 10_000).slice(1)]);
  expect(changesOf(await small.pollAll())).toMatchObject([{ previous: { Order: 'a0' } }]);
  server.put('orders', [HEADER, ...rowsOf(250, 10_000)]);
  await small.pollAll();
  server.put('orders', [HEADER, ['a0', 'short'], ...rowsOf(250, 10_000).slice(2)]);
  expect(changesOf(await small.pollAll())).toMatchObject([
    { event: 'updated', values: { Text: 'short' }, previous: null },
    { event: 'removed', values: null, previous: null },
  ]);
});

test('a part that has more than is read at once is asked for in halves, and a row that has is refused', async () => {
  const rows = rowsOf(16, 300_000);
  server.put('orders', [HEADER, ...rows]);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  server.put('orders', [HEADER, ...rows.slice(0, 10), [], [], ...rows.slice(10), ['new', 'b']]);
  expect(changesOf(await orders.pollAll())).toMatchObject([{ event: 'added', row: 20 }]);
  server.put('orders', [HEADER, ['a', ...Array.from({ length: 20 }, () => 'x'.repeat(300_000))]]);
  await expect(orders.pollAll()).rejects.toMatchObject({
    reason: 'TooLarge',
    message: expect.stringContaining('row 2'),
  });
});

test('more rows or cells than are remembered are refused', async () => {
  server.put('orders', [HEADER], { rowCount: 200_000, columnCount: 26 });
  await expect(watch().pollAll()).rejects.toMatchObject({ reason: 'TooLarge' });
  server.put('many', [HEADER, ...Array.from({ length: 100_001 }, (_, index) => [index])], { columnCount: 2 });
  await expect(watch({ spreadsheetId: 'many' }).pollAll()).rejects.toMatchObject({
    reason: 'TooLarge',
    message: expect.stringContaining('100000 rows'),
  });
});

test('one large sheet is read at a time; whoever waits in vain asks again', async () => {
  server.put('orders', [HEADER, ...rowsOf(1_200)], WIDE);
  server.setFault('hang', { path: 'A501' });
  const [first, second] = [watch(), watch()];
  const stop = new AbortController();
  const isReading = new Promise<void>((resolve) => {
    server.onRequest((request) => request.includes('A501') && resolve());
  });
  const broken = first.poll({ signal: stop.signal }).catch((error: unknown) => error);
  await isReading;
  expect(await second.poll({ enough: AbortSignal.abort() })).toMatchObject({ events: [], more: true });
  stop.abort(new Error('the deadline'));
  expect(await broken).toMatchObject({ message: 'the deadline' });
  server.setFault(undefined);
  expect(await second.pollAll()).toMatchObject({ events: [], more: false });
});
