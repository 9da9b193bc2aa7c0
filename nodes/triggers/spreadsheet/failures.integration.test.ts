/** Polls a spreadsheet that cannot be read: the reason is reported, and nothing is lost. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import {
  changeNames,
  expectFailureAtEach,
  googlePolls,
  sheetPolls,
} from '../../../test/support/nodes/sheetPolls.ts';
import { startSheetsServer, type SheetsServer } from '../../../test/support/providers/google/sheetsServer.ts';

let server: SheetsServer;
beforeEach(async () => {
  server = await startSheetsServer();
});
afterEach(() => server.close());

const watch = (fields?: Partial<SpreadsheetTrigger>) => googlePolls(server, fields);

const HEADER = ['Order', 'Item', 'Sum'];
const ORDERS = [HEADER, ['a1', 'Lamp', 20], ['a2', 'Chair', 35], ['a3', 'Table', 120]];

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
  'where each of the requests fails with "%s" the poll is %s, and the next one loses nothing',
  async (fault, reason, retryAfterSeconds) => {
    server.put('orders', ORDERS);
    const orders = watch();
    await orders.pollAll();
    server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
    const fail = (after: number) => server.setFault(fault, { after });
    await expectFailureAtEach(orders, { requests: 3, fail }, { reason, retryAfterSeconds });
    server.setFault(undefined);
    expect(changeNames(await orders.pollAll())).toEqual(['added 5 a4']);
  },
);

test('a server that does not answer is left when the poll must end', async () => {
  server.put('orders', ORDERS);
  server.setFault('hang');
  const stop = new AbortController();
  server.onRequest(() => stop.abort(new Error('the deadline')));
  await expect(watch().pollAll({ signal: stop.signal })).rejects.toThrow('the deadline');
});

test('a spreadsheet that is in the bin, is none, or does not exist is reported', async () => {
  server.put('orders', ORDERS);
  await expect(watch({ spreadsheetId: 'other' }).pollAll()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
  });
  await expect(watch({ sheet: 'Bills' }).pollAll()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
    message: expect.stringContaining('Bills'),
  });
  server.trash('orders');
  await expect(watch().pollAll()).rejects.toMatchObject({
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
    await expect(watch(fields).pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
});

test('an account that cannot read spreadsheets, or is not connected, is reported', async () => {
  const google = { oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } } as const;
  const custom = { oauth2: { preset: 'custom', clientID: 'client' } } as const;
  await expect(sheetPolls(custom, {}).pollAll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  await expect(sheetPolls(google, {}, null).pollAll()).rejects.toMatchObject({
    reason: 'CredentialMissing',
  });
});
