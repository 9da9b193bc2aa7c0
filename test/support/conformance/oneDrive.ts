/** Files of a OneDrive. */
import { startGraphServer } from '../providers/microsoft/oneDriveServer.ts';
import { graphRefusal } from './graph.ts';
import { startHttpProxy } from './httpProxy.ts';
import { HTTP_API_FAULTS, type Driver } from './provider.ts';

const FILES_THERE = 20_000;
/** Several pages of changes. */
const LARGE_FILES = 1_600;

export const oneDriveDriver: Driver = {
  title: 'files of a OneDrive',
  kind: 'fileStorage',
  credential: 'oauth2',
  preset: 'microsoft',
  faults: {
    ...HTTP_API_FAULTS,
    // Of the changes: the place is known no more, and all that there is is gone through.
    notFound: { reasons: ['FolderMissing'], firstRequestOnly: true },
    gone: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
  },
  saysWhen: true,
  nameOf: ({ text_content }) => text_content,
  start: async () => ({
    account: async ({ pageSize = 7 } = {}) => {
      const server = await startGraphServer({ pageSize });
      const proxy = await startHttpProxy(server.url, graphRefusal);
      const apiURL = `http://127.0.0.1:${proxy.port}`;
      return {
        spec: { oauth2: { preset: 'microsoft', clientID: 'client', apiURL } },
        secrets: { access_token: 'good-token' },
        proxy,
        add: async (name) => server.put({ id: `id-of-${name}`, name }),
        change: async (name) => server.write(`id-of-${name}`),
        large: {
          fill: async () => {
            for (let n = 0; n < FILES_THERE; n += 1) server.put({ id: `there-${n}`, name: `there ${n}` });
          },
          burst: async () => {
            for (let n = 0; n < LARGE_FILES; n += 1)
              server.put({ id: `large-${n}`, name: `${n} ${'🗒'.repeat(250)}` });
            return LARGE_FILES;
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
