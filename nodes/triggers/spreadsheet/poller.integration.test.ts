/**
 * Spreadsheet triggers, against a server that speaks the documented wire format of Google Sheets and Drive.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { changeNames, googlePolls } from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

const HEADER = ['Order', 'Item', 'Sum'];
const ORDERS = [HEADER, ['a1', 'Lamp', 20], ['a2', 'Chair', 35], ['a3', 'Table', 120]];

test('the first poll starts nothing, and the next brings what changed since, once, in one run', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order' });
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  server.put('orders', [HEADER, ['a1', 'Lamp', 25], ['a3', 'Table', 120], ['a4', 'Vase', 8]]);
  const found = await orders.pollAll();
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
  expect((await orders.pollAll()).events).toEqual([]);
});

test('with perRow each row that changed is a run of its own, described in a sentence', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ perRow: true });
  await orders.pollAll();
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8], ['a5', 'Rug', 60]]);
  const found = await orders.pollAll();
  expect(found.events.map(({ output }) => output.text_content)).toEqual([
    'Row 5 of Sheet1 was added: Order: a4; Item: Vase; Sum: 8.',
    'Row 6 of Sheet1 was added: Order: a5; Item: Rug; Sum: 60.',
  ]);
  expect(new Set(found.events.map(({ key }) => key)).size).toBe(2);
});

test('a poll of a spreadsheet in which nothing changed is one small request to Drive', async () => {
  server.put('orders', ORDERS);
  const orders = watch();
  await orders.pollAll();
  server.requests.length = 0;
  expect(await orders.pollAll()).toMatchObject({ events: [], more: false });
  expect(server.requests).toEqual([
    'GET /drive/v3/files/orders?fields=version%2Ctrashed%2CmimeType&supportsAllDrives=true',
  ]);
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  server.requests.length = 0;
  await orders.pollAll();
  expect(server.requests).toHaveLength(3);
});

test('a poll that is killed after its events were submitted brings the same ones again, though the sheet is another by then', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ perRow: true });
  await orders.pollAll();
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8], ['a5', 'Rug', 60]]);
  expect(await orders.poll()).toMatchObject({ events: [], more: true });
  const before = await orders.state();
  const first = await orders.poll();
  server.put('orders', [HEADER, ['a9', 'Bed', 400]]);
  orders.restore(before);
  const again = await orders.poll();
  expect(again.events).toEqual(first.events);
  expect(changeNames(await orders.pollAll())).toEqual([
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
    await orders.pollAll();
    server.put('orders', [
      HEADER,
      ['a3', 'Table', 120],
      ['a1', 'Lamp', 20],
      [],
      ['a2', 'Chair', 35],
      ['', ''],
    ]);
    expect((await orders.pollAll()).events).toEqual([]);
    server.put('orders', [
      HEADER,
      ['a0', 'Bench', 90],
      ['a3', 'Table', 120],
      ['a1', 'Lamp', 20],
      ['a2', 'Chair', 35],
    ]);
    expect(changeNames(await orders.pollAll())).toEqual(['added 2 a0']);
  }
});

test('with a key, rows that are sorted and changed at the same time are what they are', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'order', range: 'A:C', header: false });
  await expect(orders.pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  const keyed = watch({ keyColumn: 'Order' });
  await keyed.pollAll();
  server.put('orders', [HEADER, ['a3', 'Table', 99], ['a4', 'Vase', 8], ['a1', 'Lamp', 20]]);
  expect(changeNames(await keyed.pollAll())).toEqual(['updated 2 a3', 'added 3 a4', 'removed 3 a2']);
});

test('of rows with one key the first is the first, and rows without a key are not watched', async () => {
  server.put('orders', [HEADER, ['a1', 'Lamp', 20], ['a1', 'Lamp', 21], ['', 'Total', 41]]);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  server.put('orders', [
    HEADER,
    ['a1', 'Lamp', 20],
    ['a1', 'Lamp', 30],
    ['a1', 'Lamp', 40],
    ['', 'Total', 90],
  ]);
  expect(changeNames(await orders.pollAll())).toEqual(['updated 3 a1', 'added 4 a1']);
  // A row that is being written is one once it has its key.
  server.put('orders', [
    HEADER,
    ['a1', 'Lamp', 20],
    ['a1', 'Lamp', 30],
    ['a1', 'Lamp', 40],
    ['a7', 'Total', 90],
  ]);
  expect(changeNames(await orders.pollAll())).toEqual(['added 5 a7']);
});

test('the events that were not asked for start nothing, now or later', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order', events: ['added'] });
  await orders.pollAll();
  server.put('orders', [HEADER, ['a1', 'Lamp', 99]]);
  expect((await orders.pollAll()).events).toEqual([]);
  server.put('orders', [HEADER, ['a1', 'Lamp', 99], ['a2', 'Chair', 35]]);
  expect(changeNames(await orders.pollAll())).toEqual(['added 3 a2']);
});

test('a sheet that is another one, and known items that are lost, start over and start nothing', async () => {
  server.put('orders', ORDERS);
  const orders = watch({ keyColumn: 'Order' });
  await orders.pollAll();
  server.sheet('orders').sheetId = 77;
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  expect(await orders.pollAll()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('another sheet'),
  });
  server.put('orders', [...ORDERS, ['a5', 'Rug', 60]]);
  await orders.poll();
  for (const bytes of [undefined, Buffer.from('damaged')]) {
    orders.restore({ ...(await orders.state()), bytes });
    expect(await orders.pollAll()).toMatchObject({
      events: [],
      baselineLost: expect.stringContaining('are lost'),
    });
    server.put('orders', [...ORDERS, ['a6', 'Bed', 60]]);
    expect(changeNames(await orders.pollAll())).toContain('added 5 a6');
    server.put('orders', [...ORDERS, ['a7', 'Sofa', 60]]);
    await orders.poll();
  }
});

test('a cursor that cannot be read starts over and starts nothing', async () => {
  server.put('orders', ORDERS);
  const orders = watch();
  await orders.pollAll();
  orders.restore({ ...(await orders.state()), cursor: { version: 7 } });
  expect(await orders.pollAll()).toMatchObject({
    events: [],
    baselineLost: expect.stringContaining('is invalid'),
  });
  server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
  expect(changeNames(await orders.pollAll())).toEqual(['added 5 a4']);
});
