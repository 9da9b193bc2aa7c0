/** Files of a Google Drive. */
import { startDriveServer } from '../providers/google/driveServer.ts';
import { googleRefusal } from './google.ts';
import { startHttpProxy } from './httpProxy.ts';
import { HTTP_API_FAULTS, type Driver } from './provider.ts';

/** More changes than a poll goes through. */
const LARGE_FILES = 1_600;

export const driveDriver: Driver = {
  title: 'files of a Google Drive',
  kind: 'fileStorage',
  credential: 'oauth2',
  preset: 'google',
  faults: {
    ...HTTP_API_FAULTS,
    // Of the changes: the place is known no more, and all files are listed.
    notFound: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
    gone: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
  },
  saysWhen: true,
  nameOf: ({ text_content }) => text_content,
  start: async () => ({
    account: async ({ pageSize = 7 } = {}) => {
      const server = await startDriveServer({ pageSize });
      const proxy = await startHttpProxy(server.url, googleRefusal);
      const apiURL = `http://127.0.0.1:${proxy.port}`;
      return {
        spec: { oauth2: { preset: 'google', clientID: 'client', apiURL } },
        secrets: { access_token: 'good-token' },
        proxy,
        add: async (name) => void server.put({ id: `id-of-${name}`, name, parents: ['root-folder'] }),
        change: async (name) => server.write(`id-of-${name}`),
        large: {
          fill: async () => undefined,
          burst: async () => {
            for (let n = 0; n < LARGE_FILES; n += 1)
              server.put({ id: `large-${n}`, name: `${n} ${'🗒'.repeat(250)}`, parents: ['root-folder'] });
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
