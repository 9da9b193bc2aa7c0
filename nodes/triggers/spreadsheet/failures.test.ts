/** Polls a spreadsheet that cannot be read: the reason is told, and nothing is lost. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { told } from '../../../test/support/nodes/sheetChanges.ts';
import { failAtEach } from '../../../test/support/nodes/sheetFaults.ts';
import { googlePolls, sheetPolls } from '../../../test/support/nodes/sheetPolls.ts';
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
    await orders.poll();
    server.put('orders', [...ORDERS, ['a4', 'Vase', 8]]);
    const fail = (after: number) => server.setFault(fault, { after });
    await failAtEach(orders, { requests: 3, fail }, { reason, retryAfterSeconds });
    server.setFault(undefined);
    expect(told(await orders.poll())).toEqual(['added 5 a4']);
  },
);

test('a server that does not answer is left when the poll must end', async () => {
  server.put('orders', ORDERS);
  server.setFault('hang');
  const stop = new AbortController();
  server.onRequest(() => stop.abort(new Error('the deadline')));
  await expect(watch().poll({ signal: stop.signal })).rejects.toThrow('the deadline');
});

test('a spreadsheet that is in the bin, is no spreadsheet, or does not exist is reported', async () => {
  server.put('orders', ORDERS);
  await expect(watch({ spreadsheetId: 'other' }).poll()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
  });
  await expect(watch({ sheet: 'Bills' }).poll()).rejects.toMatchObject({
    reason: 'SpreadsheetMissing',
    message: expect.stringContaining('Bills'),
  });
  server.trash('orders');
  await expect(watch().poll()).rejects.toMatchObject({
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
    await expect(watch(fields).poll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
});

test('an account that cannot read spreadsheets, or that nobody has connected, is told', async () => {
  const google = { oauth2: { preset: 'google', clientID: 'client', apiURL: server.url } } as const;
  const custom = { oauth2: { preset: 'custom', clientID: 'client' } } as const;
  await expect(sheetPolls(custom, {}).poll()).rejects.toMatchObject({ reason: 'InvalidTrigger' });
  await expect(sheetPolls(google, {}, null).poll()).rejects.toMatchObject({
    reason: 'CredentialMissing',
  });
});
