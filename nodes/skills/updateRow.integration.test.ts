/** Rows that are changed, as Google Sheets gets them. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startSheetsServer } from '../../test/support/providers/google/sheetsServer.ts';
import { sheetsFailure, sheetsSkill } from '../../test/support/nodes/sheetsSkill.ts';
import { validateSkill } from '../register.ts';

const server = await startSheetsServer();
afterAll(() => server.close());
beforeEach(() => {
  server.onRequest(undefined);
  server.requests.length = 0;
  server.put('orders', [
    ['Id', 'Item', 'State', 'Note'],
    [7, 'Lamp', 'new', 'a'],
    ['8', 'Wheel', 'new', 'b'],
    ['x', 'Bell', 'new'],
  ]);
});

const update = (parameters: object) =>
  sheetsSkill(server, 'update_row', { spreadsheetId: 'orders', ...parameters });
const failure = (parameters: object) =>
  sheetsFailure(server, 'update_row', { spreadsheetId: 'orders', ...parameters });
const rows = () => server.sheet('orders').rows;

test('a row that is named by its number gets the values, and keeps the others', async () => {
  const { text, data } = await update({ row: 3, values: { Note: '', Item: 'Tyre' } });
  expect(rows()[2]).toEqual(['8', 'Tyre', 'new', '']);
  expect(text).toBe('Changed row 3.');
  expect(data).toEqual({ spreadsheet_id: 'orders', sheet: null, row: 3, range: 'B3:D3' });
});

test.each<[string, object, number]>([
  ['a number', { keyColumn: 'Id', key: 7 }, 1],
  ['a number in a text', { keyColumn: 'Id', key: '7' }, 1],
  ['a text that looks like a number', { keyColumn: 'Id', key: 8 }, 2],
  ['the letter of the column', { keyColumn: 'A', key: 'x' }, 3],
  ['a letter where nothing is named', { keyColumn: 'b', key: 'Item', header: false }, 0],
])('a row is found by its key: %s', async (_what, by, index) => {
  await update({ ...by, values: [null, null, 'done'] });
  expect(rows().map((row) => row[2] === 'done')).toEqual([0, 1, 2, 3].map((each) => each === index));
});

test('the cells between the key and what is written stay, and so do those behind', async () => {
  await update({ keyColumn: 'Id', key: 7, values: { Note: 'z' } });
  expect(rows()[1]).toEqual([7, 'Lamp', 'new', 'z']);
});

test('texts are stored as they are, unless somebody asks for them to be read', async () => {
  await update({ row: 2, values: { Note: '=A1', Item: '007' } });
  await update({ row: 3, values: { Note: '=A1', Item: '007' }, input: 'UserEntered' });
  expect(rows()[1]).toEqual([7, '007', 'new', '=A1']);
  expect(rows()[2]).toEqual(['8', 7, 'new', expect.objectContaining({ formula: '=A1' })]);
});

test('the key itself can be changed', async () => {
  await update({ keyColumn: 'Id', key: 7, values: { Id: 9 } });
  expect(rows()[1]?.[0]).toBe(9);
});

test('a key is found in a column that is too large to be read at once', async () => {
  const filler = Array.from({ length: 100 }, () => ['x'.repeat(50_000)]);
  server.put('large', [['Id', 'State'], ...filler, ['7', 'new']]);
  await update({ spreadsheetId: 'large', keyColumn: 'Id', key: 7, values: { State: 'done' } });
  expect(server.sheet('large').rows[101]).toEqual(['7', 'done']);
});

test('a sheet that somebody sorts between the search and the writing is told', async () => {
  server.onRequest((request) => {
    if (request.startsWith('PUT')) server.sheet('orders').rows.splice(1, 0, [1, 'New', 'new']);
  });
  expect(await failure({ keyColumn: 'Id', key: '8', values: { State: 'done' } })).toMatchObject({
    reason: 'EffectUnknown',
    retryable: false,
    message: expect.stringMatching(/^row 3 has another key than a moment before/),
  });
});

test.each<[string, object, string, RegExp]>([
  [
    'no row with the key',
    { keyColumn: 'Id', key: '77', values: ['a'] },
    'Refused',
    /^no row of the table has that key$/,
  ],
  [
    'several rows with the key',
    { keyColumn: 'State', key: 'new', values: ['a'] },
    'Refused',
    /^more than one row has that key: 2, 3, 4$/,
  ],
  ['the header alone with the key', { keyColumn: 'Id', key: 'Id', values: ['a'] }, 'Refused', /^no row/],
  [
    'a column that is not there',
    { keyColumn: 'Number', key: 1, values: ['a'] },
    'InvalidParameters',
    /^keyColumn: the sheet has no such heading/,
  ],
  [
    'the number of the header',
    { row: 1, values: ['a'] },
    'InvalidParameters',
    /^row: is outside the table, or is its header$/,
  ],
  [
    'a number outside of the range',
    { row: 9, range: 'A1:D4', values: ['a'] },
    'InvalidParameters',
    /^row: is outside/,
  ],
  ['a number beyond the sheet', { row: 2_000, values: ['a'] }, 'Refused', /exceeds grid limits/],
  [
    'nothing to write',
    { row: 2, values: { Item: null } },
    'InvalidParameters',
    /^values: nothing is to be written/,
  ],
])('%s changes nothing', async (_what, parameters, reason, message) => {
  const before = structuredClone(rows());
  expect(await failure(parameters)).toMatchObject({
    reason,
    retryable: false,
    message: expect.stringMatching(message),
  });
  expect(rows()).toEqual(before);
});

test.each<[object, string[]]>([
  [{ keyColumn: 'Id', key: "{{ $('trigger').data_content.id }}", values: ['a'] }, []],
  [{ values: ['a'] }, ['row: give either row or keyColumn']],
  [{ row: 2, keyColumn: 'Id', key: 1, values: ['a'] }, ['row: give either row or keyColumn']],
  [{ keyColumn: 'Id', values: ['a'] }, ['key: goes together with keyColumn: give both or none']],
  [{ row: 0, values: ['a'] }, ['row: must be the number of a row']],
])('the parameters %j are checked with the workflow', (parameters, problems) => {
  expect(validateSkill('update_row', { spreadsheetId: 'a', ...parameters })).toEqual(problems);
});
