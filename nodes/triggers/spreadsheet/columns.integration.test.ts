/** What of a sheet is watched: which columns and cells, under which names, and how their values come. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { changeNames, changesOf, googlePolls } from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

const HEADER = ['Order', 'Item', 'Sum'];
const ORDERS = [HEADER, ['a1', 'Lamp', 20], ['a2', 'Chair', 35], ['a3', 'Table', 120]];

test('columns that are renamed, moved or added are no change of rows', async () => {
  for (const fields of [{ keyColumn: 'Order' }, {}]) {
    server.put('orders', ORDERS);
    const orders = watch(fields);
    await orders.pollAll();
    const renamed = ['Order', 'What', 'Sum'];
    server.put('orders', [renamed, ...ORDERS.slice(1)]);
    expect((await orders.pollAll()).events).toEqual([]);
    server.put('orders', [renamed, ['a1', 'Lamp', 21], ...ORDERS.slice(2)]);
    expect(changesOf(await orders.pollAll())).toMatchObject([
      { values: { Order: 'a1', What: 'Lamp', Sum: 21 }, previous: { Order: 'a1', What: 'Lamp', Sum: 20 } },
    ]);
    server.put('orders', [
      ['New', 'Sum', 'Order', 'What'],
      ['x', 21, 'a1', 'Lamp'],
      ['y', 36, 'a2', 'Chair'],
      ['', 120, 'a3', 'Table'],
    ]);
    expect(changesOf(await orders.pollAll())).toMatchObject([
      { row: 3, values: { New: 'y', Sum: 36 }, previous: { Order: 'a2', What: 'Chair', Sum: 35 } },
    ]);
    server.put('orders', [
      ['New', 'Sum', 'Order', 'What'],
      ['z', 21, 'a1', 'Lamp'],
      ['y', 36, 'a2', 'Chair'],
      ['', 120, 'a3', 'Table'],
    ]);
    expect(changeNames(await orders.pollAll())).toEqual(['updated 2 z']);
  }
});

const ROWS = [
  ['a1', 'Lamp', 20],
  ['a2', 'Chair', 35],
];
const withFirst = (cell: string, row: readonly (string | number)[]) => [cell, ...row];

test.each<[string, (string | number)[][], (string | number)[][]]>([
  ['a name is given to a column that holds something', [['Order', 'Item'], ...ROWS], [HEADER, ...ROWS]],
  ['names are given to all columns', [[], ...ROWS], [HEADER, ...ROWS]],
  [
    'a column comes before some that have no name, or one that another has',
    [['Order', '', 'Order'], ...ROWS],
    [['New', 'Order', '', 'Order'], ...ROWS.map((row) => withFirst('x', row))],
  ],
  [
    'a column without a name comes before another one without',
    [['Order', '', 'Sum'], ...ROWS],
    [['', 'Order', '', 'Sum'], ...ROWS.map((row) => withFirst('x', row))],
  ],
  [
    'a column comes between two of one name',
    [['Order', 'Order'], ...ROWS.map(([a, b]) => [a ?? '', b ?? ''])],
    [['Order', 'New', 'Order'], ...ROWS.map(([a, b]) => [a ?? '', 'x', b ?? ''])],
  ],
])('where %s it is no change of rows, and what changes then is one', async (_what, before, after) => {
  for (const fields of [{ keyColumn: 'Order' }, {}]) {
    if (fields.keyColumn !== undefined && !before[0]?.includes('Order')) continue;
    server.put('orders', before);
    const orders = watch(fields);
    await orders.pollAll();
    server.put('orders', after);
    expect(changeNames(await orders.pollAll())).toEqual([]);
    server.put('orders', [...after.slice(0, -1), [...(after.at(-1) ?? []).slice(0, -1), 'other']]);
    expect(changesOf(await orders.pollAll())).toMatchObject([{ event: 'updated', row: 3 }]);
  }
});

test('a key whose column was renamed is reported, although a column has these letters', async () => {
  server.put('orders', [['ID', 'Item'], ...ROWS], { columnCount: 300 });
  const orders = watch({ keyColumn: 'ID' });
  await orders.pollAll();
  server.put('orders', [['Number', 'Item'], ...ROWS]);
  await expect(orders.pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  server.put('orders', [['ID', 'Item'], ...ROWS, ['a3', 'Table']]);
  expect(changeNames(await orders.pollAll())).toEqual(['added 4 a3']);
});

test('a column that is removed is no change of rows; with a key, rows that are added or removed meanwhile are', async () => {
  server.put('orders', ORDERS);
  const [keyed, plain] = [watch({ keyColumn: 'Order' }), watch()];
  await keyed.pollAll();
  await plain.pollAll();
  server.put('orders', [
    ['Order', 'Sum'],
    ['a1', 20],
    ['a2', 36],
    ['a4', 8],
  ]);
  expect(changeNames(await keyed.pollAll())).toEqual(['added 4 a4', 'removed 4 a3']);
  expect(changeNames(await plain.pollAll())).toEqual([]);
  server.put('orders', [
    ['Order', 'Sum'],
    ['a1', 20],
    ['a2', 37],
    ['a4', 8],
  ]);
  expect(changeNames(await keyed.pollAll())).toEqual(['updated 3 a2']);
  expect(changeNames(await plain.pollAll())).toEqual(['updated 3 a2']);
});

test('formulas, dates, sums of money, truth values and merged cells come as the documentation says', async () => {
  server.put('orders', [['A', 'B', 'C', 'D', 'E']]);
  const orders = watch({ perRow: true });
  await orders.pollAll();
  const due = { value: 46_000, formatted: '12/9/2025', isDate: true };
  const sum = { value: 20.5, formatted: '$20.50' };
  const formula = { value: 41, formatted: '41', formula: '=SUM(C2:C3)' };
  // Of merged cells the first one alone holds the value.
  server.put('orders', [
    ['A', 'B', 'C', 'D', 'E'],
    [due, formula, sum, true, 'merged'],
    ['', 2],
  ]);
  expect(changesOf(await orders.pollAll())).toMatchObject([
    { values: { A: '12/9/2025', B: 41, C: 20.5, D: true, E: 'merged' } },
    { values: { A: '', B: 2, C: '', D: '', E: '' } },
  ]);
  // Shown in another way it is the same sum; another date is another one.
  server.put('orders', [
    ['A', 'B', 'C', 'D', 'E'],
    [due, formula, { value: 20.5, formatted: '20,50 €' }, true, 'merged'],
    ['', 2],
  ]);
  expect((await orders.pollAll()).events).toEqual([]);
});

test('columns without a name have their letters, and a name that is taken has them, too', async () => {
  server.put('orders', [['Price', '', 'Price', '__proto__']]);
  const orders = watch();
  await orders.pollAll();
  server.put('orders', [
    ['Price', '', 'Price', '__proto__'],
    [1, 2, 3, 4, '', 6],
  ]);
  const [change] = changesOf(await orders.pollAll());
  expect(Object.entries(change?.values ?? {})).toEqual([
    ['Price', 1],
    ['B', 2],
    ['Price (C)', 3],
    ['__proto__', 4],
    ['F', 6],
  ]);
});

test('without a header values come in order, and the first row is a row', async () => {
  server.put('orders', [['a1', 'Lamp']]);
  const orders = watch({ header: false });
  await orders.pollAll();
  server.put('orders', [
    ['a1', 'Chair'],
    ['a2', '', 3],
  ]);
  expect(changesOf(await orders.pollAll())).toMatchObject([
    { row: 1, event: 'updated', values: ['a1', 'Chair'], previous: ['a1', 'Lamp'] },
    { row: 2, event: 'added', values: ['a2', '', 3] },
  ]);
});

test.each<[string, Partial<SpreadsheetTrigger>]>([
  ['the sheet by its name', { sheet: "Ada's list" }],
  ['the sheet and cells by a range', { range: "'Ada''s list'!A1:C50" }],
  [
    'the sheet that the URL shows',
    { spreadsheetId: 'https://docs.google.com/spreadsheets/d/orders/edit?gid=1111#gid=1111' },
  ],
])('watched is %s', async (_, fields) => {
  server.put('orders', ORDERS);
  server.addSheet('orders', "Ada's list", [['Name']]);
  const list = watch(fields);
  await list.pollAll();
  server.put('orders', [...ORDERS, ['b', 'c']]);
  server.sheet('orders', "Ada's list").rows = [['Name'], ['Ada']];
  server.touch('orders');
  expect(changesOf(await list.pollAll())).toMatchObject([
    { sheet: "Ada's list", row: 2, values: { Name: 'Ada' } },
  ]);
});

test('what lies beside the cells that are watched is not seen', async () => {
  server.put('orders', [['a report'], [], ['', 'Item', 'Sum', 'Note'], ['', 'Lamp', 1, 'x']]);
  const orders = watch({ range: 'B3:C10', keyColumn: 'B' });
  await orders.pollAll();
  server.put('orders', [
    ['another report'],
    [],
    ['', 'Item', 'Sum', 'Note'],
    ['z', 'Lamp', 1, 'y'],
    ['', 'Vase', 2],
  ]);
  expect(changesOf(await orders.pollAll())).toMatchObject([{ row: 5, values: { Item: 'Vase', Sum: 2 } }]);
});
