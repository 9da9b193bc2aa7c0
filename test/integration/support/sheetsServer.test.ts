import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSheetsServer, type SheetsServer } from '../../support/providers/google/sheetsServer.ts';

let server: SheetsServer;

beforeAll(async () => {
  server = await startSheetsServer();
});
afterAll(() => server.close());

async function ask(path: string, init: { method?: string; body?: unknown; token?: string } = {}) {
  const { method = 'GET', body, token = 'good-token' } = init;
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const date = { value: 42_430.5, formatted: '1/3/2016', isDate: true };

test('gives values as the documentation says: rendered, without empty cells and rows at the end', async () => {
  server.put('read', [
    ['Item', 'When', 'Sum'],
    ['Wheel', date, { value: 20.5, formatted: '$20.50' }],
    [''],
    [],
  ]);
  const shown = await ask('/v4/spreadsheets/read/values/Sheet1!A1:C');
  expect(shown.body).toEqual({
    range: 'Sheet1!A1:C1000',
    majorDimension: 'ROWS',
    values: [
      ['Item', 'When', 'Sum'],
      ['Wheel', '1/3/2016', '$20.50'],
    ],
  });
  const plain = 'valueRenderOption=UNFORMATTED_VALUE';
  expect((await ask(`/v4/spreadsheets/read/values/A2:C2?${plain}`)).body).toMatchObject({
    values: [['Wheel', 42_430.5, 20.5]],
  });
  const dates = `${plain}&dateTimeRenderOption=FORMATTED_STRING`;
  expect((await ask(`/v4/spreadsheets/read/values:batchGet?ranges=B2&ranges=E5&${dates}`)).body).toEqual({
    spreadsheetId: 'read',
    valueRanges: [
      { range: 'Sheet1!B2', majorDimension: 'ROWS', values: [['1/3/2016']] },
      { range: 'Sheet1!E5', majorDimension: 'ROWS' },
    ],
  });
});

test('refuses invalid ranges, and those beyond the grid', async () => {
  server.put('refused', [['a']]);
  const none = await ask('/v4/spreadsheets/refused/values/Nowhere!A1');
  expect(none).toMatchObject({
    status: 400,
    body: { error: { message: 'Unable to parse range: Nowhere!A1' } },
  });
  const beyond = await ask('/v4/spreadsheets/refused/values/A1001:B1002');
  expect(beyond).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } });
});

test('appends below the table, and changes single cells', async () => {
  server.put('write', [
    ['Item', 'Cost'],
    ['Wheel', 1],
  ]);
  const before = await ask('/drive/v3/files/write?fields=version');
  const appended = await ask('/v4/spreadsheets/write/values/Sheet1:append?valueInputOption=USER_ENTERED', {
    method: 'POST',
    body: { values: [['Gate', '2']] },
  });
  expect(appended.body).toMatchObject({
    tableRange: 'Sheet1!A1:B2',
    updates: { updatedRange: 'Sheet1!A3:B3', updatedRows: 1, updatedCells: 2 },
  });
  await ask('/v4/spreadsheets/write/values/A2:B2?valueInputOption=RAW', {
    method: 'PUT',
    body: { values: [[null, '=1+1']] },
  });
  expect(server.sheet('write').rows).toEqual([
    ['Item', 'Cost'],
    ['Wheel', '=1+1'],
    ['Gate', 2],
  ]);
  const after = await ask('/drive/v3/files/write?fields=version');
  expect(Number(after.body['version'])).toBeGreaterThan(Number(before.body['version']));
});

test('describes its sheets', async () => {
  server.put('two', [['a']]);
  server.addSheet('two', "Ada's list", [['b']]);
  const { body } = await ask('/v4/spreadsheets/two?fields=sheets.properties');
  expect(body['sheets']).toMatchObject([
    { properties: { sheetId: 0, title: 'Sheet1', gridProperties: { rowCount: 1_000, columnCount: 26 } } },
    { properties: { title: "Ada's list", index: 1 } },
  ]);
  const quoted = encodeURIComponent("'Ada''s list'!A1");
  expect((await ask(`/v4/spreadsheets/two/values/${quoted}`)).body).toMatchObject({ values: [['b']] });
});

test('fails as it is told to', async () => {
  server.put('fault', [['a']]);
  const path = '/v4/spreadsheets/fault';
  server.setFault('tooManyRequests', { after: 1 });
  expect((await ask(path)).status).toBe(200);
  expect(await ask(path)).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } });
  server.setFault('lostAnswer');
  await expect(
    ask(`${path}/values/A1?valueInputOption=RAW`, { method: 'PUT', body: { values: [['b']] } }),
  ).rejects.toThrow('fetch failed');
  server.setFault(undefined);
  expect(server.sheet('fault').rows).toEqual([['b']]);
  expect((await ask(path, { token: 'old' })).status).toBe(401);
  expect((await ask('/v4/spreadsheets/other')).status).toBe(404);
});
