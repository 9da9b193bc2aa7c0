/** Rows of a sheet, each change a run: what is the same at every provider of sheets. */
import { startHttpProxy, type Refusal } from './httpProxy.ts';
import { editRows, fillRows } from './largeSheet.ts';
import { HTTP_API_FAULTS, type Driver } from './provider.ts';

type SheetServer = { url: string; put(id: string, rows: string[][]): void; close(): Promise<void> };

type Options = {
  title: string;
  preset: 'google' | 'microsoft';
  /** The id of the file in which the rows are. */
  id: string;
  /** Rows of a sheet that is large there. */
  largeRows: number;
  server: () => Promise<SheetServer>;
  refusal: Refusal;
};

export function rowsDriver({ title, preset, id, largeRows, server: start, refusal }: Options): Driver {
  return {
    title,
    kind: 'spreadsheet',
    credential: 'oauth2',
    preset,
    faults: {
      ...HTTP_API_FAULTS,
      notFound: { reasons: ['SpreadsheetMissing'] },
      gone: { reasons: ['SpreadsheetMissing'] },
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
        const server = await start();
        const proxy = await startHttpProxy(server.url, refusal);
        const rows = [['id', 'what']];
        const put = () => server.put(id, rows);
        put();
        return {
          spec: { oauth2: { preset, clientID: 'client', apiURL: `http://127.0.0.1:${proxy.port}` } },
          secrets: { access_token: 'good-token' },
          fields: { spreadsheetId: id, keyColumn: 'id', perRow: true },
          proxy,
          add: async (name) => {
            rows.push([name, `what ${name} is`]);
            put();
          },
          large: {
            fill: async () => {
              fillRows(rows, largeRows);
              put();
            },
            burst: async () => {
              const edited = editRows(rows);
              put();
              return edited;
            },
          },
          close: async () => {
            await proxy.close();
            await server.close();
          },
        };
      },
      stop: async () => undefined,
    }),
  };
}
