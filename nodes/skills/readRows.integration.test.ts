/** Rows that are read, as workflows see them. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { startSheetsServer } from '../../test/support/providers/google/sheetsServer.ts';
import { sheetsFailure, sheetsSkill } from '../../test/support/nodes/sheetsSkill.ts';

const server = await startSheetsServer();
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
});

const read = (parameters: object = {}) =>
  sheetsSkill(server, 'read_rows', { spreadsheetId: 'orders', ...parameters });
const failure = (parameters: object) =>
  sheetsFailure(server, 'read_rows', { spreadsheetId: 'orders', ...parameters });

test('rows are given by heading: numbers as numbers, dates as shown, formulas as results, empty rows left out', async () => {
  server.put('orders', [
    ['Item', 'When', '', 'Item', 'Sum'],
    [
      'Lamp',
      { value: 42_430.5, formatted: '1/3/2016', isDate: true },
      'x',
      'y',
      { value: 20.5, formatted: '$20.50', formula: '=A1' },
    ],
    [],
    ['Wheel'],
  ]);
  expect(await read()).toEqual({
    text: '2 rows of Sheet1.',
    data: {
      spreadsheet_id: 'orders',
      sheet: 'Sheet1',
      rows: [
        { row: 2, values: { Item: 'Lamp', When: '1/3/2016', C: 'x', 'Item (D)': 'y', Sum: 20.5 } },
        { row: 4, values: { Item: 'Wheel', When: '', C: '', 'Item (D)': '', Sum: '' } },
      ],
      more: false,
    },
  });
});

test('without a header rows are lists, from the first one on', async () => {
  server.put('orders', [['Lamp', 1], ['Wheel']]);
  const { data } = await read({ header: false });
  expect(data['rows']).toEqual([
    { row: 1, values: ['Lamp', 1] },
    { row: 2, values: ['Wheel'] },
  ]);
  expect(await failure({ header: false, where: { A: 'Lamp' } })).toMatchObject({
    reason: 'InvalidParameters',
  });
});

test('an empty A1 is an empty cell, or a column that has its letter as name', async () => {
  server.put('orders', [
    ['', 'Item'],
    ['x', 'Lamp'],
  ]);
  expect((await read({ header: false })).data['rows']).toMatchObject([
    { values: ['', 'Item'] },
    { values: ['x', 'Lamp'] },
  ]);
  expect((await read({})).data['rows']).toMatchObject([{ values: { A: 'x', Item: 'Lamp' } }]);
});

test('a table is read where it lies, and from the sheet of that name', async () => {
  server.put('orders', [['a']]);
  server.addSheet('orders', "Ada's 2", [['Title'], ['', 'Item', 'Price', 'other'], ['', 'Lamp', 1, 'other']]);
  const { data } = await read({ sheet: "Ada's 2", range: 'B2:C' });
  expect(data['rows']).toEqual([{ row: 3, values: { Item: 'Lamp', Price: 1 } }]);
});

test('a row is found by a number with more digits than a double has', async () => {
  server.put('orders', [['Id'], ['12345678901234567890'], ['12345678901234567891']]);
  const { data } = await read({ where: { Id: parseExact('12345678901234567891') } });
  expect(data['rows']).toEqual([{ row: 3, values: { Id: '12345678901234567891' } }]);
});

test('rows are chosen by what they hold, and what was left out is read from where the answer ended', async () => {
  const all = Array.from({ length: 300 }, (_, index) => [index + 1, index % 2 === 0 ? 'even' : 'odd']);
  server.put('orders', [['Number', 'Kind'], ...all]);
  const first = await read({ where: { Kind: 'odd' }, limit: 100 });
  const found = first.data['rows'] as { row: number; values: { Number: number } }[];
  expect([found.length, found[0]?.values.Number, first.data['more']]).toEqual([100, 2, true]);
  expect(first.text).toBe('100 rows of Sheet1, and there are more.');
  const rest = await read({ where: { Kind: 'odd' }, limit: 100, after: found.at(-1)?.row });
  expect(rest.data).toMatchObject({ rows: { length: 50 }, more: false });
  expect((await read({ where: { Number: '7' } })).data['rows']).toMatchObject([{ row: 8 }]);
});

test('a sheet is read in pages, and only as much of it as is wanted', async () => {
  const long = Array.from({ length: 12_000 }, (_, index) => [`row ${index}`, 'x']);
  server.put('orders', [['Name', 'Same'], ...long], { rowCount: 12_001, columnCount: 26 });
  await read({ limit: 3 });
  expect(server.requests.at(-1)).toContain(encodeURIComponent("'Sheet1'!A2:Z5"));
  server.requests.length = 0;
  const { data } = await read({ where: { Name: 'row 11999' } });
  expect(data['rows']).toEqual([{ row: 12_001, values: { Name: 'row 11999', Same: 'x' } }]);
  // The header, and 12,000 rows of 26 columns.
  expect(server.requests.filter((request) => request.includes('/values/'))).toHaveLength(1 + 4);
  // As many as an output has room for, over the end of a page.
  const all = await read({ where: { Same: 'x' }, limit: 10_000, after: 2_001 });
  const found = (all.data['rows'] as { row: number }[]).map(({ row }) => row);
  expect(found.length).toBeGreaterThan(8_000);
  expect(found).toEqual(found.map((_, index) => 2_002 + index));
});

test('an output is never larger than it may be, and a page that is too large is read in parts', async () => {
  const large = Array.from({ length: 110 }, () => ['x'.repeat(50_000)]);
  server.put('large', [['Name'], ...large]);
  const { data } = await read({ spreadsheetId: 'large' });
  expect(data).toMatchObject({ rows: { length: 10 }, more: true });
  // The size of the sheet, its header, a page that is too large, and the first part of it.
  expect(server.requests).toHaveLength(4);
  const { data: found } = await read({ spreadsheetId: 'large', where: { Name: 'nothing' } });
  expect(found).toMatchObject({ rows: [], more: false });
  server.put('orders', [['a'], Array.from({ length: 12 }, () => 'x'.repeat(50_000))]);
  expect(await failure({})).toMatchObject({
    reason: 'OutputTooLarge',
    message: expect.stringMatching(/^row 2 is larger/),
  });
});

test.each<[string, object, string]>([
  ['a sheet', { sheet: 'Nowhere' }, 'the spreadsheet has no sheet of that name; it has "Sheet1"'],
  ['a heading', { where: { Prize: 1 } }, 'where["Prize"]: the sheet has no such heading; it has "Item"'],
])('%s that is not there is told', async (_what, parameters, message) => {
  server.put('plain', [['Item']]);
  expect(await failure({ spreadsheetId: 'plain', ...parameters })).toMatchObject({
    retryable: false,
    message,
  });
});

test('nothing is found beyond the end of a sheet', async () => {
  server.put('orders', [['Item']], { rowCount: 1_000 });
  for (const parameters of [{}, { range: 'A5000:B' }, { range: 'AA1:AB' }, { after: 5_000 }])
    expect((await read(parameters)).data).toMatchObject({ rows: [], more: false });
});
