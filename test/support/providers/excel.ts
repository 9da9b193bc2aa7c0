/** Rows of a workbook of Excel, each change a run. */
import { startWorkbookServer, type ExcelRows } from '../workbookServer.ts';
import { graphRefusal } from './graph.ts';
import { startHttpDoor } from './httpDoor.ts';
import { editRows, fillRows } from './largeSheet.ts';
import type { Driver } from './provider.ts';

const ID = '01CYZLFJGUJ7JHBSZDFZFL25KSZGQTVAUN';
const LARGE_ROWS = 10_000;

export const excelDriver: Driver = {
  title: 'rows of a workbook of Excel',
  kind: 'spreadsheet',
  credential: 'oauth2',
  preset: 'microsoft',
  faults: {
    unauthorized: { reasons: ['Rejected'] },
    forbidden: { reasons: ['Rejected'] },
    notFound: { reasons: ['SpreadsheetMissing'] },
    gone: { reasons: ['SpreadsheetMissing'] },
    tooManyRequests: { reasons: ['RateLimited'] },
    unavailable: { reasons: ['UpstreamError'] },
    silence: { reasons: ['Timeout'] },
    lost: { reasons: ['Unreachable'] },
    garbage: { reasons: ['InvalidAnswer'] },
    // Of cells it is asked for fewer and fewer.
    endless: { reasons: ['InvalidAnswer', 'TooLarge'] },
  },
  saysWhen: true,
  nameOf: ({ data_content }) => {
    const { changes } = data_content as { changes: { values: { id: string } }[] };
    return changes.map(({ values }) => values.id).join(' ');
  },
  start: async () => ({
    account: async () => {
      const server = await startWorkbookServer();
      const door = await startHttpDoor(server.url, graphRefusal);
      const apiURL = `http://127.0.0.1:${door.port}`;
      const rows: ExcelRows = [['id', 'what']];
      server.put(ID, rows);
      return {
        spec: { oauth2: { preset: 'microsoft', clientID: 'client', apiURL } },
        secrets: { access_token: 'good-token' },
        fields: { spreadsheetId: ID, keyColumn: 'id', perRow: true },
        door,
        add: async (name) => {
          rows.push([name, `what ${name} is`]);
          server.put(ID, rows);
        },
        large: {
          fill: async () => {
            fillRows(rows, LARGE_ROWS);
            server.put(ID, rows);
          },
          burst: async () => {
            const edited = editRows(rows);
            server.put(ID, rows);
            return edited;
          },
        },
        close: async () => {
          await door.close();
          await server.close();
        },
      };
    },
    stop: async () => undefined,
  }),
};
