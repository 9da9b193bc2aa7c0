/** Files of a OneDrive. */
import { startGraphServer } from '../graphServer.ts';
import { graphRefusal } from './graph.ts';
import { startHttpDoor } from './httpDoor.ts';
import type { Driver } from './provider.ts';

export const oneDriveDriver: Driver = {
  title: 'files of a OneDrive',
  kind: 'fileStorage',
  credential: 'oauth2',
  preset: 'microsoft',
  faults: {
    unauthorized: { reasons: ['Rejected'] },
    forbidden: { reasons: ['Rejected'] },
    // Of the changes: the place is known no more, and all that there is is gone through.
    notFound: { reasons: ['FolderMissing'], firstRequestOnly: true },
    gone: { reasons: ['InvalidAnswer'], firstRequestOnly: true },
    tooManyRequests: { reasons: ['RateLimited'] },
    unavailable: { reasons: ['UpstreamError'] },
    silence: { reasons: ['Timeout'] },
    lost: { reasons: ['Unreachable'] },
    garbage: { reasons: ['InvalidAnswer'] },
    endless: { reasons: ['InvalidAnswer'] },
  },
  saysWhen: true,
  nameOf: ({ text_content }) => text_content,
  start: async () => ({
    account: async () => {
      const server = await startGraphServer({ pageSize: 7 });
      const door = await startHttpDoor(server.url, graphRefusal);
      const apiURL = `http://127.0.0.1:${door.port}`;
      return {
        spec: { oauth2: { preset: 'microsoft', clientID: 'client', apiURL } },
        secrets: { access_token: 'good-token' },
        door,
        add: async (name) => server.put({ id: `id-of-${name}`, name }),
        change: async (name) => server.write(`id-of-${name}`),
        close: async () => {
          await door.close();
          await server.close();
        },
      };
    },
    stop: async () => undefined,
  }),
};
