/** Spreadsheet triggers, against a server that speaks the documented wire format of Google Sheets and Drive. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../api/trigger.ts';
import { sheetLooks } from '../../test/support/sheetLooks.ts';
import { startSheetsServer, type SheetsServer } from '../../test/support/sheetsServer.ts';
import type { Polled } from '../poller.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const tokenSpec = () => ({ oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } }) as const;

const watch = (fields: Partial<SpreadsheetTrigger> = {}) => sheetLooks(tokenSpec(), fields);

type Change = { sheet: string; row: number; event: string; values: unknown; previous: unknown };
type Data = { spreadsheet_id: string; changes: Change[]; truncated: boolean };
const dataOf = ({ events }: Polled) => events.map(({ output }) => output.data_content as Data);
const changesOf = (polled: Polled) => dataOf(polled).flatMap(({ changes }) => changes);
/** In short: what happened to which row, and its first cell. */
const told = (polled: Polled) =>
  changesOf(polled).map(({ event, row, values, previous }) => {
    const [first] = Object.values((values ?? previous ?? {}) as Record<string, unknown>);
    return `${event} ${row} ${String(first)}`;
  });

const HEADER = ['Order', 'Item', 'Sum'];
const ORDERS = [HEADER, ['a1', 'Lamp', 20], ['a2', 'Chair', 35], ['a3', 'Table', 120]];

test('the first look starts nothing, and the next brings what changed since, once, in one run', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order' });
  expect(await orders.look()).toMatchObject({ events: [], more: false });
  server.put('orders', [HEADER, ['a1', 'Lamp', 25], ['a3', 'Table', 120], ['a4', 'Vase', 8]]);
  const found = await orders.look();
  expect(found.events).toHaveLength(1);
  expect(found.events[0]?.output).toEqual({
    text_content: '3 rows of Sheet1 changed: 1 added, 1 updated, 1 removed.',
    data_content: {
      spreadsheet_id: 'orders',
      changes: [
        {
          sheet: 'Sheet1',
          row: 2,
          event: 'updated',
          values: { Order: 'a1', Item: 'Lamp', Sum: 25 },
          previous: { Order: 'a1', Item: 'Lamp', Sum: 20 },
        },
        {
          sheet: 'Sheet1',
          row: 3,
          event: 'removed',
          values: null,
          previous: { Order: 'a2', Item: 'Chair', Sum: 35 },
        },
        {
          sheet: 'Sheet1',
          row: 4,
          event: 'added',
          values: { Order: 'a4', Item: 'Vase', Sum: 8 },
          previous: null,
        },
      ],
      truncated: false,
    },
  });
  server.touch('orders');
  expect((await orders.look()).events).toEqual([]);
});

test('with perRow each row that changed is a run of its own, told in a sentence', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ perRow: true });
  await orders.look();
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8], ['a5', 'Rug', 60]]);
  const found = await orders.look();
  expect(found.events.map(({ output }) => output.text_content)).toEqual([
    'Row 5 of Sheet1 was added: Order: a4; Item: Vase; Sum: 8.',
    'Row 6 of Sheet1 was added: Order: a5; Item: Rug; Sum: 60.',
  ]);
  expect(new Set(found.events.map(({ key }) => key)).size).toBe(2);
});

test('a look at a spreadsheet in which nothing changed is one small request to Drive', async () => {
  server.put('orders', ORDERS);
  const orders = watch();
  await orders.look();
  server.requests.length = 0;
  expect(await orders.look()).toMatchObject({ events: [], more: false });
  expect(server.requests).toEqual([
    'GET /drive/v3/files/orders?fields=version%2Ctrashed%2CmimeType&supportsAllDrives=true',
  ]);
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  server.requests.length = 0;
  await orders.look();
  expect(server.requests).toHaveLength(3);
});

test('a look that is killed after its events were submitted brings the same ones again, though the sheet is another by then', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ perRow: true });
  await orders.look();
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8], ['a5', 'Rug', 60]]);
  expect(await orders.lookOnce()).toMatchObject({ events: [], more: true });
  const before = await orders.state();
  const first = await orders.lookOnce();
  server.put('orders', [HEADER, ['a9', 'Bed', 400]]);
  orders.goBackTo(before);
  const again = await orders.lookOnce();
  expect(again.events).toEqual(first.events);
  expect(told(await orders.look())).toEqual([
    'updated 2 a9',
    'removed 3 a2',
    'removed 4 a3',
    'removed 5 a4',
    'removed 6 a5',
  ]);
});

test('rows that a person sorts, moves or puts others between are no change, with a key or without', async () => {
  for (const fields of [{ keyColumn: 'A' }, {}]) {
    server.put('orders', ORDERS);
    const orders = watch(fields);
    await orders.look();
    server.put('orders', [
      HEADER,
      ['a3', 'Table', 120],
      ['a1', 'Lamp', 20],
      [],
      ['a2', 'Chair', 35],
      ['', ''],
    ]);
    expect((await orders.look()).events).toEqual([]);
    server.put('orders', [
      HEADER,
      ['a0', 'Bench', 90],
      ['a3', 'Table', 120],
      ['a1', 'Lamp', 20],
      ['a2', 'Chair', 35],
    ]);
    expect(told(await orders.look())).toEqual(['added 2 a0']);
  }
});

test('with a key, rows that are sorted and changed at the same time are what they are', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'order', range: 'A:C', header: false });
  await expect(orders.look()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  const keyed = watch({ keyColumn: 'Order' });
  await keyed.look();
  server.put('orders', [HEADER, ['a3', 'Table', 99], ['a4', 'Vase', 8], ['a1', 'Lamp', 20]]);
  expect(told(await keyed.look())).toEqual(['updated 2 a3', 'added 3 a4', 'removed 3 a2']);
});

test('of rows with one key the first is the first, and rows without a key are not watched', async () => {
  server.put('orders', [HEADER, ['a1', 'Lamp', 20], ['a1', 'Lamp', 21], ['', 'Total', 41]]);
  const orders = watch({ keyColumn: 'Order' });
  await orders.look();
  server.put('orders', [
    HEADER,
    ['a1', 'Lamp', 20],
    ['a1', 'Lamp', 30],
    ['a1', 'Lamp', 40],
    ['', 'Total', 90],
  ]);
  expect(told(await orders.look())).toEqual(['updated 3 a1', 'added 4 a1']);
  // A row that is being written is one once it has its key.
  server.put('orders', [
    HEADER,
    ['a1', 'Lamp', 20],
    ['a1', 'Lamp', 30],
    ['a1', 'Lamp', 40],
    ['a7', 'Total', 90],
  ]);
  expect(told(await orders.look())).toEqual(['added 5 a7']);
});

test('the events that were not asked for start nothing, now or later', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order', events: ['added'] });
  await orders.look();
  server.put('orders', [HEADER, ['a1', 'Lamp', 99]]);
  expect((await orders.look()).events).toEqual([]);
  server.put('orders', [HEADER, ['a1', 'Lamp', 99], ['a2', 'Chair', 35]]);
  expect(told(await orders.look())).toEqual(['added 3 a2']);
});

test('columns that are renamed, moved or added are no change of rows', async () => {
  for (const fields of [{ keyColumn: 'Order' }, {}]) {
    server.put('orders', ORDERS);
    const orders = watch(fields);
    await orders.look();
    const renamed = ['Order', 'What', 'Sum'];
    server.put('orders', [renamed, ...ORDERS.slice(1)]);
    expect((await orders.look()).events).toEqual([]);
    server.put('orders', [renamed, ['a1', 'Lamp', 21], ...ORDERS.slice(2)]);
    expect(changesOf(await orders.look())).toMatchObject([
      { values: { Order: 'a1', What: 'Lamp', Sum: 21 }, previous: { Order: 'a1', What: 'Lamp', Sum: 20 } },
    ]);
    server.put('orders', [
      ['New', 'Sum', 'Order', 'What'],
      ['x', 21, 'a1', 'Lamp'],
      ['y', 36, 'a2', 'Chair'],
      ['', 120, 'a3', 'Table'],
    ]);
    expect(changesOf(await orders.look())).toMatchObject([
      { row: 3, values: { New: 'y', Sum: 36 }, previous: { Order: 'a2', What: 'Chair', Sum: 35 } },
    ]);
    server.put('orders', [
      ['New', 'Sum', 'Order', 'What'],
      ['z', 21, 'a1', 'Lamp'],
      ['y', 36, 'a2', 'Chair'],
      ['', 120, 'a3', 'Table'],
    ]);
    expect(told(await orders.look())).toEqual(['updated 2 z']);
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
    await orders.look();
    server.put('orders', after);
    expect(told(await orders.look())).toEqual([]);
    server.put('orders', [...after.slice(0, -1), [...(after.at(-1) ?? []).slice(0, -1), 'other']]);
    expect(changesOf(await orders.look())).toMatchObject([{ event: 'updated', row: 3 }]);
  }
});

test('a key whose column is not named so any more is told, though there is a column of these letters', async () => {
  server.put('orders', [['ID', 'Item'], ...ROWS], { columnCount: 300 });
  const orders = watch({ keyColumn: 'ID' });
  await orders.look();
  server.put('orders', [['Number', 'Item'], ...ROWS]);
  await expect(orders.look()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  server.put('orders', [['ID', 'Item'], ...ROWS, ['a3', 'Table']]);
  expect(told(await orders.look())).toEqual(['added 4 a3']);
});

test('a column that is removed is no change of rows; with a key, rows that are added or removed meanwhile are', async () => {
  server.put('orders', ORDERS);
  const [keyed, plain] = [watch({ keyColumn: 'Order' }), watch()];
  await keyed.look();
  await plain.look();
  server.put('orders', [
    ['Order', 'Sum'],
    ['a1', 20],
    ['a2', 36],
    ['a4', 8],
  ]);
  expect(told(await keyed.look())).toEqual(['added 4 a4', 'removed 4 a3']);
  expect(told(await plain.look())).toEqual([]);
  server.put('orders', [
    ['Order', 'Sum'],
    ['a1', 20],
    ['a2', 37],
    ['a4', 8],
  ]);
  expect(told(await keyed.look())).toEqual(['updated 3 a2']);
  expect(told(await plain.look())).toEqual(['updated 3 a2']);
});

test('formulas, dates, sums of money, truth values and merged cells come as the documentation says', async () => {
  server.put('orders', [['A', 'B', 'C', 'D', 'E']]);
  const orders = watch({ perRow: true });
  await orders.look();
  const due = { value: 46_000, formatted: '12/9/2025', isDate: true };
  const sum = { value: 20.5, formatted: '$20.50' };
  const formula = { value: 41, formatted: '41', formula: '=SUM(C2:C3)' };
  // Of merged cells the first one alone holds the value.
  server.put('orders', [
    ['A', 'B', 'C', 'D', 'E'],
    [due, formula, sum, true, 'merged'],
    ['', 2],
  ]);
  expect(changesOf(await orders.look())).toMatchObject([
    { values: { A: '12/9/2025', B: 41, C: 20.5, D: true, E: 'merged' } },
    { values: { A: '', B: 2, C: '', D: '', E: '' } },
  ]);
  // Shown in another way it is the same sum; another date is another one.
  server.put('orders', [
    ['A', 'B', 'C', 'D', 'E'],
    [due, formula, { value: 20.5, formatted: '20,50 €' }, true, 'merged'],
    ['', 2],
  ]);
  expect((await orders.look()).events).toEqual([]);
});

test('columns without a name have their letters, and a name that is taken has them, too', async () => {
  server.put('orders', [['Price', '', 'Price', '__proto__']]);
  const orders = watch();
  await orders.look();
  server.put('orders', [
    ['Price', '', 'Price', '__proto__'],
    [1, 2, 3, 4, '', 6],
  ]);
  const [change] = changesOf(await orders.look());
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
  await orders.look();
  server.put('orders', [
    ['a1', 'Chair'],
    ['a2', '', 3],
  ]);
  expect(changesOf(await orders.look())).toMatchObject([
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
  await list.look();
  server.put('orders', [...ORDERS, ['b', 'c']]);
  server.sheet('orders', "Ada's list").rows = [['Name'], ['Ada']];
  server.touch('orders');
  expect(changesOf(await list.look())).toMatchObject([
    { sheet: "Ada's list", row: 2, values: { Name: 'Ada' } },
  ]);
});

test('what lies beside the cells that are watched is not seen', async () => {
  server.put('orders', [['a report'], [], ['', 'Item', 'Sum', 'Note'], ['', 'Lamp', 1, 'x']]);
  const orders = watch({ range: 'B3:C10', keyColumn: 'B' });
  await orders.look();
  server.put('orders', [
    ['another report'],
    [],
    ['', 'Item', 'Sum', 'Note'],
    ['z', 'Lamp', 1, 'y'],
    ['', 'Vase', 2],
  ]);
  expect(changesOf(await orders.look())).toMatchObject([{ row: 5, values: { Item: 'Vase', Sum: 2 } }]);
});

test('a sheet that is another one, and memory that is lost, begin anew and start nothing', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order' });
  await orders.look();
  server.sheet('orders').sheetId = 77;
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  expect(await orders.look()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another sheet'),
  });
  server.put('orders', [...ORDERS, ['a5', 'Rug', 60]]);
  await orders.lookOnce();
  for (const bytes of [undefined, Buffer.from('damaged')]) {
    orders.goBackTo({ ...(await orders.state()), bytes });
    expect(await orders.look()).toMatchObject({
      events: [],
      baselineLost: expect.stringContaining('not known'),
    });
    server.put('orders', [...ORDERS, ['a6', 'Bed', 60]]);
    expect(told(await orders.look())).toContain('added 5 a6');
    server.put('orders', [...ORDERS, ['a7', 'Sofa', 60]]);
    await orders.lookOnce();
  }
});

test('a cursor that cannot be read begins anew and starts nothing', async () => {
  server.put('orders', ORDERS);
  const orders = watch();
  await orders.look();
  orders.goBackTo({ ...(await orders.state()), cursor: { version: 7 } });
  expect(await orders.look()).toMatchObject({ events: [], baselineLost: expect.stringContaining('read') });
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  expect(told(await orders.look())).toEqual(['added 5 a4']);
});

type Fault = NonNullable<Parameters<SheetsServer['setFault']>[0]>;

test.each<[Fault, string, number | undefined]>([
  ['unauthorized', 'Rejected', undefined],
  ['forbidden', 'Rejected', undefined],
  ['insufficientScopes', 'MissingScope', undefined],
  ['notFound', 'SpreadsheetMissing', undefined],
  ['gone', 'SpreadsheetMissing', undefined],
  ['tooManyRequests', 'RateLimited', 17],
  ['unavailable', 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])(
  'where each of the requests fails with "%s" the look is %s, and the next one loses nothing',
  async (fault, reason, retryAfterSeconds) => {
    server.put('orders', ORDERS);
    const orders = watch();
    await orders.look();
    server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
    for (const after of [0, 1, 2]) {
      server.setFault(fault, { after });
      const error = await orders.look().catch((error: unknown) => error);
      expect(error).toMatchObject({ reason, retryAfterSeconds });
      expect(String(error)).not.toContain('good-token');
    }
    server.setFault(undefined);
    expect(told(await orders.look())).toEqual(['added 5 a4']);
  },
);

test('a server that does not answer is left when the look must end', async () => {
  server.put('orders', ORDERS);
  server.setFault('hang');
  const stop = new AbortController();
  server.onRequest(() => stop.abort(new Error('the deadline')));
  await expect(watch().look({ signal: stop.signal })).rejects.toThrow('the deadline');
});

test('a spreadsheet in the bin, or that is none, or of which nobody knows, is told', async () => {
  server.put('orders', ORDERS);
  await expect(watch({ spreadsheetId: 'other' }).look()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
  });
  await expect(watch({ sheet: 'Bills' }).look()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
    message: expect.stringContaining('Bills'),
  });
  server.trash('orders');
  await expect(watch().look()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
    message: expect.stringContaining('bin'),
  });
  for (const fields of [
    { spreadsheetId: '../etc' },
    { spreadsheetId: 'x'.repeat(201) },
    { spreadsheetId: `https://docs.google.com/spreadsheets/d/${'x'.repeat(201)}/edit` },
    { spreadsheetId: 'https://docs.google.com/spreadsheets/d/e/2PACX-1/pub' },
    { range: 'orders' },
    { range: 'A1:B2:C3' },
    { sheet: 'Sheet1', range: 'Other!A1' },
  ])
    await expect(watch(fields).look()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
});

test('an account that cannot read spreadsheets, or that nobody has connected, is told', async () => {
  const custom = { oauth2: { preset: 'custom', clientID: 'client' } } as const;
  await expect(sheetLooks(custom, {}).look()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  await expect(sheetLooks(tokenSpec(), {}, null).look()).rejects.toMatchObject({
    reason: 'CredentialMissing',
  });
});
