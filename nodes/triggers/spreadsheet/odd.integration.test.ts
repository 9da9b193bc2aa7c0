/** Odd spreadsheets: the table "Bad input" of docs/triggers/spreadsheet.md. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { changesOf, googlePolls, sheetEventsOf, sheetPolls } from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

const KEY = { name: 'secret', key: 'key' };
const HEADER = ['Order', 'Item'];
const ROWS = [
  ['a1', 'Lamp'],
  ['a2', 'Chair'],
];

test('a sheet of 10,000 columns is read, and of a row with more text than an event has the beginning comes', async () => {
  const names = Array.from({ length: 10_000 }, (_, n) => `column ${n}`);
  server.put('orders', [names], { columnCount: 10_000, rowCount: 30 });
  const orders = watch({ keyColumn: 'column 9999', perRow: true });
  await orders.pollAll();
  server.put('orders', [names, names.map((_, n) => n), names.map((_, n) => `${'x'.repeat(100)}${n}`)]);
  const [small, large] = sheetEventsOf(await orders.pollAll()).flatMap(({ changes, truncated }) =>
    changes.map(({ values }) => ({ values: values ?? {}, truncated })),
  );
  expect(small).toMatchObject({ truncated: false, values: { 'column 0': 0, 'column 9999': 9_999 } });
  expect(large?.truncated).toBe(true);
});

test.each([
  ['a sheet that has nothing', []],
  ['a sheet that has a header alone', [HEADER]],
])('%s has no rows, until somebody writes one', async (_what, rows) => {
  server.put('orders', rows);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [HEADER]);
  expect((await orders.pollAll()).events).toEqual([]);
  server.put('orders', [HEADER, ...ROWS]);
  expect(changesOf(await orders.pollAll())).toMatchObject([
    { event: 'added', row: 2, values: { Order: 'a1', Item: 'Lamp' } },
    { event: 'added', row: 3 },
  ]);
  server.put('orders', [HEADER]);
  expect(changesOf(await orders.pollAll()).map(({ event }) => event)).toEqual(['removed', 'removed']);
});

test('formulas that fail have the text that the sheet shows, and so do names of 1,000 emoji and paths', async () => {
  server.put('orders', [HEADER]);
  const orders = watch();
  await orders.pollAll();
  const cells = ['#DIV/0!', '😀'.repeat(1_000), '../../etc/passwd', '{{ $("trigger").text_content }}'];
  server.put('orders', [HEADER, ...cells.map((cell, n) => [`a${n}`, cell])]);
  expect(changesOf(await orders.pollAll()).map(({ values }) => values?.['Item'])).toEqual(cells);
});

test('of a cell of 50,000 characters a change of the last one is a change', async () => {
  server.put('orders', [HEADER, ['a1', `${'x'.repeat(49_999)}y`]]);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  server.put('orders', [HEADER, ['a1', `${'x'.repeat(49_999)}z`]]);
  const [change] = changesOf(await orders.pollAll());
  expect(change).toMatchObject({ event: 'updated', values: { Item: `${'x'.repeat(49_999)}z` } });
});

test('headings of 50,000 characters leave no room for values, and that is said', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(50_000, 'x'));
  server.put('orders', [names]);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [names, ['a1']]);
  expect(sheetEventsOf(await orders.pollAll())).toMatchObject([
    { changes: [{ event: 'added', row: 2, values: null }], truncated: true },
  ]);
});

test.each<[string, Partial<SpreadsheetTrigger>, number[]]>([
  ['whole columns', { range: 'A:B' }, [1, 5]],
  ['whole rows', { range: '3:6' }, [5]],
  ['a single cell, where it begins', { range: 'B2' }, [5]],
  ['absolute cells', { range: '$A$1:$B$9' }, [1, 5]],
  ['cells beyond the sheet', { range: 'A1:ZZ5000' }, [1, 5]],
  ['what the sheet does not have', { range: 'ZZ5000:ZZ6000' }, []],
])('a range may be %s', async (_what, fields, expected) => {
  server.put('orders', [[]]);
  const orders = watch({ header: false, ...fields });
  await orders.pollAll();
  server.put('orders', [['first'], [], [], [], ['a', 'b']]);
  expect(changesOf(await orders.pollAll()).map(({ row }) => row)).toEqual(expected);
});

test('a sheet that is renamed is missed by its name, and is the same one under it again or by its place', async () => {
  server.put('orders', [HEADER, ...ROWS]);
  const [byName, byPlace] = [watch({ sheet: 'Sheet1' }), watch()];
  await byName.pollAll();
  await byPlace.pollAll();
  server.sheet('orders').title = 'Old orders';
  server.put('orders', [HEADER, ...ROWS, ['a3', 'Table']]);
  await expect(byName.pollAll()).rejects.toMatchObject({ reason: 'SpreadsheetMissing' });
  expect(changesOf(await byPlace.pollAll())).toMatchObject([{ event: 'added', row: 4 }]);
  server.sheet('orders').title = 'Sheet1';
  server.touch('orders');
  expect(changesOf(await byName.pollAll())).toMatchObject([{ event: 'added', row: 4 }]);
});

test('an empty row above the header hides all names: nothing is reported until it is gone', async () => {
  server.put('orders', [HEADER, ...ROWS]);
  const keyed = watch({ keyColumn: 'Order' });
  await keyed.pollAll();
  server.put('orders', [[], HEADER, ...ROWS]);
  await expect(keyed.pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  server.put('orders', [HEADER, ...ROWS, ['a3', 'Table']]);
  expect(changesOf(await keyed.pollAll())).toMatchObject([{ event: 'added', row: 4 }]);
});

test('without a key the header is a row as long as an empty row stands above it', async () => {
  server.put('orders', [HEADER, ...ROWS]);
  const plain = watch();
  await plain.pollAll();
  server.put('orders', [[], HEADER, ...ROWS]);
  expect((await plain.pollAll()).events).toEqual([]);
  server.put('orders', [HEADER, ...ROWS]);
  expect(changesOf(await plain.pollAll())).toMatchObject([{ event: 'removed', row: 2 }]);
});

test.each([
  ['a file of Excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['a document', 'application/vnd.google-apps.document'],
  ['a shortcut', 'application/vnd.google-apps.shortcut'],
])('%s is reported, and nothing is asked of Sheets', async (_what, mimeType) => {
  server.put('orders', [HEADER]);
  server.become('orders', mimeType);
  await expect(watch().pollAll()).rejects.toMatchObject({
    reason: 'InvalidTrigger',
    message: expect.stringContaining(mimeType),
  });
  expect(server.requests.filter((request) => request.includes('/v4/'))).toEqual([]);
});

test('a spreadsheet that was moved is the same; one that is taken away or thrown away loses nothing until it is back', async () => {
  server.put('orders', [HEADER, ...ROWS]);
  const orders = watch();
  await orders.pollAll();
  server.touch('orders');
  expect((await orders.pollAll()).events).toEqual([]);
  server.put('orders', [HEADER, ...ROWS, ['a3', 'Table']]);
  for (const fault of ['notFound', 'forbidden'] as const) {
    server.setFault(fault);
    await expect(orders.pollAll()).rejects.toBeInstanceOf(Error);
  }
  server.setFault(undefined);
  server.trash('orders');
  await expect(orders.pollAll()).rejects.toMatchObject({ reason: 'SpreadsheetMissing' });
  server.trash('orders', false);
  expect(changesOf(await orders.pollAll())).toMatchObject([{ event: 'added', row: 4 }]);
});

// Of another kind it is known without the trigger; the status calls both InvalidTrigger.
test.each([
  [
    { s3: { endpoint: 'http://a', bucket: 'a', accessKeyIdRef: KEY, secretAccessKeyRef: KEY } },
    'InvalidTrigger',
  ],
  [{ smtp: { host: 'a', from: 'a@example.com' } }, 'InvalidTrigger'],
  [{ oauth2: { clientID: 'client' } }, 'InvalidTrigger'],
])('a credential that has no spreadsheets (%o) is reported', async (spec, reason) => {
  await expect(sheetPolls(spec, {}).pollAll()).rejects.toMatchObject({
    reason,
    message: expect.stringContaining('credential account'),
  });
});
