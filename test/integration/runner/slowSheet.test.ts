/** A sheet that takes longer to be read than a page of a poll may take. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { excelDriver } from '../../support/conformance/excel.ts';
import { graphRefusal } from '../../support/conformance/graph.ts';
import { startHttpProxy } from '../../support/conformance/httpProxy.ts';
import { openPolledProject } from '../../support/conformance/polledProject.ts';
import { startRunStore, type TestStore } from '../../support/runStore/runStore.ts';
import { startWorkbookServer } from '../../support/providers/microsoft/workbookServer.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

/** Four parts, each of which the server works out for a second. */
const ROWS = 3_500;
const RANGE_MS = 1_000;
/** By when a page must be there. */
const PAGE_MS = 3_000;

test('it is read by several, and what changes of it starts its run', { timeout: 60_000 }, async () => {
  const server = await startWorkbookServer({ rangeLatencyMs: RANGE_MS });
  const rows = Array.from({ length: ROWS }, (_, index) => [index === 0 ? 'id' : `row-${index}`, ...WIDE]);
  server.put('orders', rows);
  const proxy = await startHttpProxy(server.url, graphRefusal);
  const apiURL = `http://127.0.0.1:${proxy.port}`;
  const project = await openPolledProject(store, excelDriver, {
    spec: { oauth2: { preset: 'microsoft', clientID: 'client', apiURL } },
    secrets: { access_token: 'good-token' },
    fields: { spreadsheetId: 'orders', keyColumn: 'id', perRow: true },
    proxy,
    add: async (name) => server.put('orders', [...rows, [name]]),
    close: () => proxy.close(),
  });
  const options = { pageMs: PAGE_MS, burstMs: 60_000 };
  expect(await project.poll(options)).toMatchObject({ outcome: 'again', failing: false });
  expect(project.pages.length).toBeGreaterThanOrEqual(2);
  server.put('orders', [...rows, ['event']]);
  await project.poll(options);
  expect(await project.started()).toEqual(['event']);
  expect((await project.state()).failure).toBeUndefined();
  await proxy.close();
  await server.close();
});

const WIDE = Array.from({ length: 19 }, (_, index) => `column ${index}`);
