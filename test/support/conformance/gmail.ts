/** Mail by Gmail's API. */
import { startGmailServer } from '../providers/google/gmailServer.ts';
import { googleRefusal } from './google.ts';
import { startHttpProxy } from './httpProxy.ts';
import { LARGE_MAILS, largeMails } from './largeMail.ts';
import { HTTP_API_FAULTS, type Driver } from './provider.ts';

export const gmailDriver: Driver = {
  title: 'mail by Gmail',
  kind: 'mail',
  credential: 'oauth2',
  preset: 'google',
  faults: {
    ...HTTP_API_FAULTS,
    // Later on, of the history: it does not reach back so far; of a mail: it was removed.
    notFound: { reasons: ['Rejected'], firstRequestOnly: true },
    gone: { reasons: ['InvalidAnswer'] },
  },
  saysWhen: true,
  nameOf: ({ data_content }) => (data_content as { subject: string }).subject,
  start: async () => ({
    account: async ({ pageSize = 7 } = {}) => {
      const server = await startGmailServer({ pageSize });
      const proxy = await startHttpProxy(server.url, googleRefusal);
      const apiURL = `http://127.0.0.1:${proxy.port}`;
      return {
        spec: { oauth2: { preset: 'google', clientID: 'client', apiURL } },
        secrets: { access_token: 'good-token' },
        fields: { attachments: 'Content' },
        proxy,
        add: async (name) => {
          server.deliver(`From: ada@example.com\r\nSubject: ${name}\r\n\r\nbody of ${name}\r\n`);
        },
        large: {
          fill: async () => undefined,
          burst: async () => {
            for (const mail of largeMails()) server.deliver(mail);
            return LARGE_MAILS;
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
