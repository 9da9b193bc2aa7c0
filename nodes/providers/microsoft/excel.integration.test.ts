/**
 * Spreadsheet triggers at workbooks of Excel, against a server that speaks the documented wire format of
 * Microsoft Graph.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import {
  changeNames,
  changesOf,
  expectFailureAtEach,
  sheetPolls,
} from '../../../test/support/nodes/sheetPolls.ts';
import {
  startWorkbookServer,
  type WorkbookFault,
  type WorkbookServer,
} from '../../../test/support/providers/microsoft/workbookServer.ts';

let server: WorkbookServer;
beforeEach(async () => {
  server = await startWorkbookServer({ mostCells: 30_000 });
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const watch = (fields: Partial<SpreadsheetTrigger> = {}) =>
  sheetPolls({ oauth2: { preset: 'microsoft', clientID: 'client', apiURL: server.url } }, fields);

const HEADER = ['Order', 'Item', 'Sum'];
const ORDERS = [HEADER, ['a1', 'Lamp', 20], ['a2', 'Chair', 35], ['a3', 'Table', 120]];
const MORE = [...ORDERS, ['a4', 'Vase', 8]];
const LINK = 'https://contoso.sharepoint.com/:x:/s/sales/EeUqKzÄ?e=4%3a1#x';

test('the first poll starts nothing, and the next brings what changed since', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order' });
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  server.put('orders', [HEADER, ['a1', 'Lamp', 25], ['a3', 'Table', 120], ['a4', 'Vase', 8]]);
  const { events } = await orders.pollAll();
  const sheet = 'Sheet1';
  expect(events.map(({ output }) => output)).toEqual([
    {
      text_content: '3 rows of Sheet1 changed: 1 added, 1 updated, 1 removed.',
      data_content: {
        spreadsheet_id: 'orders',
        changes: [
          {
            sheet,
            row: 2,
            event: 'updated',
            values: { Order: 'a1', Item: 'Lamp', Sum: 25 },
            previous: { Order: 'a1', Item: 'Lamp', Sum: 20 },
          },
          {
            sheet,
            row: 3,
            event: 'removed',
            values: null,
            previous: { Order: 'a2', Item: 'Chair', Sum: 35 },
          },
          { sheet, row: 4, event: 'added', values: { Order: 'a4', Item: 'Vase', Sum: 8 }, previous: null },
        ],
        truncated: false,
      },
    },
  ]);
  server.touch('orders');
  expect((await orders.pollAll()).events).toEqual([]);
});

test('a poll of a workbook in which nothing changed is one small request, and a change four', async () => {
  server.put('orders', ORDERS);
  const orders = watch();
  await orders.pollAll();
  server.requests.length = 0;
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  const item = 'GET /v1.0/me/drive/items/orders?$select=id,cTag,eTag,file,deleted,parentReference';
  expect(server.requests).toEqual([item]);
  server.put('orders', MORE);
  server.requests.length = 0;
  await orders.pollAll();
  const workbook = 'GET /v1.0/drives/b!drive-1/items/orders/workbook/worksheets';
  const sheet = `${workbook}/{00000000-0001-0000-0000-000000000000}`;
  expect(server.requests).toEqual([
    item,
    `${workbook}?$select=id,name,position`,
    `${sheet}/usedRange(valuesOnly=true)?$select=rowIndex,columnIndex,rowCount,columnCount`,
    `${sheet}/range(address='A1:C5')?$select=values,text,numberFormat`,
  ]);
  expect(new Set(server.sessions)).toEqual(new Set(['']));
});

test('cells that came as they were before the version are read once more, half a minute later', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  server.put('orders', ORDERS);
  const orders = watch({ perRow: true });
  const later = async () => {
    vi.setSystemTime(Date.now() + 30_000);
    server.requests.length = 0;
    return orders.pollAll();
  };
  await orders.pollAll();
  expect((await later()).events).toEqual([]);
  expect(server.requests).toHaveLength(4);
  server.put('orders', MORE);
  const first = await orders.pollAll();
  server.sheet('orders').rows = [...MORE, ['a5', 'Rug', 60]];
  expect((await orders.pollAll()).events).toEqual([]);
  const second = await later();
  expect(changeNames(second)).toEqual(['added 6 a5']);
  expect(second.events[0]?.key).not.toBe(first.events[0]?.key);
  await later();
  expect(server.requests).toHaveLength(1);
});

test('a file may be named by a URL that leads to it; its events name it by its ID', async () => {
  server.put('01CYZ', ORDERS, { url: LINK });
  const orders = watch({ spreadsheetId: LINK, perRow: true });
  await orders.pollAll();
  server.put('01CYZ', MORE);
  expect(await orders.poll()).toMatchObject({ events: [], more: true });
  // Stored changes are returned without a request to the provider.
  server.setFault('drop');
  const { events } = await orders.poll();
  expect(events).toMatchObject([{ output: { data_content: { spreadsheet_id: '01CYZ' } } }]);
  expect(events[0]?.key).toMatch(/^01CYZ\//);
});

test('dates, times and durations come as the sheet shows them, all else as values', async () => {
  const header = ['Due', 'At', 'For', 'Sum', 'Share', 'Formula', 'Paid', 'Error', 'Merged'];
  server.put('orders', [header]);
  const orders = watch();
  await orders.pollAll();
  const cell = (value: number, text: string, numberFormat: string) => ({ value, text, numberFormat });
  server.put('orders', [
    header,
    [
      cell(46_000, '12/9/2025', 'm/d/yyyy'),
      cell(0.5, '12:00 PM', 'h:mm AM/PM'),
      cell(1.25, '30:00:00', '[h]:mm:ss'),
      cell(20.5, '$20.50', '"$"#,##0.00'),
      cell(0.19, '19%', '0%'),
      41,
      true,
      '#N/A',
      // Of merged cells the first one alone holds the value.
      'merged',
    ],
    ['', '', '', { value: 'text', text: 'text', numberFormat: 'm/d/yyyy' }],
  ]);
  const [first, second] = changesOf(await orders.pollAll());
  expect(Object.values(first?.values ?? {})).toEqual([
    '12/9/2025',
    '12:00 PM',
    '30:00:00',
    20.5,
    0.19,
    41,
    true,
    '#N/A',
    'merged',
  ]);
  expect(second?.values).toMatchObject({ Due: '', Sum: 'text', Merged: '' });
});

test('rows that are sorted, empty rows and renamed columns are no change', async () => {
  server.put('orders', ORDERS);
  const [keyed, plain] = [watch({ keyColumn: 'Order' }), watch()];
  await keyed.pollAll();
  await plain.pollAll();
  server.put('orders', [
    ['Order', 'What', 'Sum', 'Note'],
    ['a3', 'Table', 120],
    [],
    ['a1', 'Lamp', 20],
    ['', ''],
    ['a2', 'Chair', 35],
  ]);
  expect((await keyed.pollAll()).events).toEqual([]);
  expect((await plain.pollAll()).events).toEqual([]);
});

test('what is watched may lie beside all that the sheet holds, which may also be nothing', async () => {
  server.put('orders', []);
  const [all, beside, below] = [watch(), watch({ range: 'E2:F' }), watch({ range: 'A10:C', header: false })];
  for (const orders of [all, beside, below]) expect((await orders.pollAll()).events).toEqual([]);
  server.put('orders', ORDERS);
  expect(changeNames(await all.pollAll())).toEqual(['added 2 a1', 'added 3 a2', 'added 4 a3']);
  for (const orders of [beside, below]) expect((await orders.pollAll()).events).toEqual([]);
  server.put('orders', [
    HEADER,
    ['', '', '', '', 'Name'],
    ['', '', '', '', 'Ada'],
    [],
    [],
    [],
    [],
    [],
    [],
    [1],
  ]);
  expect(changeNames(await beside.pollAll())).toEqual(['added 3 Ada']);
  expect(changeNames(await below.pollAll())).toEqual(['added 10 1']);
});

test('watched is the first sheet, or the one that is named; another one in its place starts over', async () => {
  server.put('orders', ORDERS);
  server.addSheet('orders', "Ada's list", [['Name']]);
  const [first, list] = [watch(), watch({ sheet: "Ada's list" })];
  await first.pollAll();
  await list.pollAll();
  server.sheet('orders', "Ada's list").rows = [['Name'], ['Ada']];
  server.touch('orders');
  expect((await first.pollAll()).events).toEqual([]);
  expect(changesOf(await list.pollAll())).toMatchObject([{ sheet: "Ada's list", values: { Name: 'Ada' } }]);
  server.sheet('orders').name = 'Renamed';
  server.put('orders', MORE);
  expect(changesOf(await first.pollAll())).toMatchObject([{ sheet: 'Renamed', row: 5 }]);
  server.sheet('orders').id = '{00000000-0001-0000-0700-000000000000}';
  server.touch('orders');
  expect(await first.pollAll()).toMatchObject({ baselineLost: expect.stringContaining('another sheet') });
  await expect(watch({ sheet: 'Bills' }).pollAll()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
    message: expect.stringContaining('Bills'),
  });
});

/** 20,000 cells are 1,000 rows of them. */
const wide = (count: number) =>
  Array.from({ length: count }, (_, index) => [`a${index}`, index, ...Array.from({ length: 18 }, () => 'x')]);
const rangesOf = ({ requests }: WorkbookServer) =>
  requests.flatMap((request) => /address='(\w+:\w+)'/.exec(request)?.[1] ?? []);

test('a large sheet is read part after part in a session in which nothing can be saved', async () => {
  server.put('orders', wide(2_500));
  let underWay = 0;
  const most: number[] = [];
  server.onRequest((request) => {
    if (request.includes('/range(')) most.push((underWay += 1));
    setImmediate(() => (underWay = 0));
  });
  const orders = watch({ header: false, keyColumn: 'A' });
  await orders.pollAll();
  expect(rangesOf(server)).toEqual(['A1:T1000', 'A1001:T2000', 'A2001:T2500']);
  expect(Math.max(...most)).toBe(1);
  expect(server.requests.filter((request) => request.startsWith('POST'))).toEqual([
    'POST /v1.0/drives/b!drive-1/items/orders/workbook/createSession',
  ]);
  const shown = server.sessions.filter((_, index) => server.requests[index]?.includes('/range('));
  expect(shown).toEqual(Array.from({ length: 3 }, () => 'cluster=US1&session=12.1'));
  server.put('orders', wide(2_501));
  expect(changeNames(await orders.pollAll())).toEqual(['added 2501 a2500']);
});

test('it is read without a session where none is given, and not where the provider asks to wait', async () => {
  server.put('orders', wide(1_500));
  const orders = watch({ header: false });
  const path = 'createSession';
  server.setFault({ status: 429, code: 'tooManyRequests', retryAfter: 30 }, { path });
  await expect(orders.pollAll()).rejects.toMatchObject({ reason: 'RateLimited', retryAfterSeconds: 30 });
  server.setFault({ status: 403, code: 'accessDenied' }, { path });
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  expect(server.sessions.every((session) => session === '')).toBe(true);
});

test('a sheet that takes longer than a poll is read by several', async () => {
  server.put('orders', wide(2_500));
  const orders = watch({ header: false });
  const slow = { enough: AbortSignal.abort() };
  expect(await orders.poll(slow)).toMatchObject({ more: true, cursor: { reading: { next: 1_000 } } });
  expect(await orders.pollAll(slow)).toMatchObject({ events: [], more: false });
  expect(rangesOf(server)).toEqual(['A1:T1000', 'A1001:T2000', 'A2001:T2500']);
});

test('where the provider gives less at a time, parts are asked for in halves', async () => {
  await server.close();
  server = await startWorkbookServer({ mostCells: 6_000 });
  server.put('orders', wide(900));
  const orders = watch({ header: false });
  await orders.pollAll();
  expect(rangesOf(server)).toContain('A1:T225');
  server.put('orders', wide(901));
  expect(changeNames(await orders.pollAll())).toEqual(['added 901 a900']);
});

test.each<[WorkbookFault, string, number | undefined]>([
  [{ status: 401, code: 'InvalidAuthenticationToken' }, 'Rejected', undefined],
  [{ status: 403, code: 'accessDenied' }, 'Rejected', undefined],
  [{ status: 404, code: 'itemNotFound' }, 'SpreadsheetMissing', undefined],
  [{ status: 409, code: 'conflict', inner: 'accessConflict' }, 'UpstreamError', undefined],
  [{ status: 423, code: 'resourceLocked', retryAfter: 5 }, 'UpstreamError', 5],
  [{ status: 429, code: 'tooManyRequests', retryAfter: 17 }, 'RateLimited', 17],
  [{ status: 500, code: 'internalServerError', inner: 'GenericFileOpenError' }, 'UpstreamError', undefined],
  [{ status: 501, code: 'notImplemented', inner: 'unsupportedWorkbook' }, 'UpstreamError', undefined],
  [{ status: 503, code: 'serviceUnavailable', inner: 'transientFailure', retryAfter: 9 }, 'UpstreamError', 9],
  [{ status: 504, code: 'gatewayTimeout', inner: 'gatewayTimeoutUncategorized' }, 'UpstreamError', undefined],
  ['drop', 'Unreachable', undefined],
  ['garbage', 'InvalidAnswer', undefined],
])(
  'where each of the requests fails with %j the poll is %s, and the next one loses nothing',
  async (fault, reason, retryAfterSeconds) => {
    server.put('orders', ORDERS);
    const orders = watch();
    await orders.pollAll();
    server.put('orders', MORE);
    const fail = (after: number) => server.setFault(fault, { after });
    await expectFailureAtEach(orders, { requests: 4, fail }, { reason, retryAfterSeconds });
    server.setFault(undefined);
    expect(changeNames(await orders.pollAll())).toEqual(['added 5 a4']);
  },
);

test('the message has the words of the provider, and the code that says more', async () => {
  server.put('orders', ORDERS);
  server.setFault({ status: 409, code: 'conflict', inner: 'accessConflict' });
  await expect(watch().pollAll()).rejects.toThrow(
    /the file is locked: "?What: conflict\. \(accessConflict\)/,
  );
});

test('a file that is no workbook, or does not exist, is reported', async () => {
  const types = { xls: 'application/vnd.ms-excel', text: 'text/csv', folder: '' };
  for (const [id, mimeType] of Object.entries(types)) {
    server.put(id, [], { mimeType });
    await expect(watch({ spreadsheetId: id }).pollAll()).rejects.toMatchObject({
      reason: 'InvalidTrigger',
      message: expect.stringContaining('xlsx'),
    });
  }
  server.put('macros', ORDERS, { mimeType: 'application/vnd.ms-excel.sheet.macroEnabled.12' });
  expect(await watch({ spreadsheetId: 'macros' }).pollAll()).toMatchObject({ events: [] });
  for (const spreadsheetId of ['other', 'https://contoso.sharepoint.com/:x:/s/other'])
    await expect(watch({ spreadsheetId }).pollAll()).rejects.toMatchObject({ reason: 'SpreadsheetMissing' });
  for (const spreadsheetId of ['../etc', 'x'.repeat(201), 'http://contoso.sharepoint.com/x', 'two words'])
    await expect(watch({ spreadsheetId }).pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
});
