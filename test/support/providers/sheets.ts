/** Rows of a Google spreadsheet, each change a run. */
import { startSheetsServer } from '../sheetsServer.ts';
import { googleRefusal } from './google.ts';
import { startHttpDoor } from './httpDoor.ts';
import { editRows, fillRows } from './largeSheet.ts';
import type { Driver } from './provider.ts';

const ID = 'spreadsheet-1';
/** As many as are watched. */
const LARGE_ROWS = 100_000;

export const sheetsDriver: Driver = {
  title: 'rows of a Google spreadsheet',
  kind: 'spreadsheet',
  credential: 'oauth2',
  preset: 'google',
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
      const server = await startSheetsServer();
      const door = await startHttpDoor(server.url, googleRefusal);
      const apiURL = `http://127.0.0.1:${door.port}`;
      const rows = [['id', 'what']];
      server.put(ID, rows);
      return {
        spec: { oauth2: { preset: 'google', clientID: 'client', apiURL } },
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
