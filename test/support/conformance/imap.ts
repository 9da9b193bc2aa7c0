/** Mail by IMAP, at a real server: by password, and by the access token of a connected account. */
import type { CredentialSpec } from '../../../api/credential.ts';
import { IMAP_PASSWORD, startDovecot } from '../providers/mail/dovecot.ts';
import { listen, readBody, sendJson } from '../network/listen.ts';
import { startImapProxy } from './imapProxy.ts';
import { LARGE_MAILS, largeMails } from './largeMail.ts';
import type { Account, Driver } from './provider.ts';

/**
 * What a server says to each command may mean one thing at a login and another where the mailbox is opened.
 */
const FAULTS_OF_IMAP: Driver['faults'] = {
  unauthorized: { reasons: ['Rejected'] },
  forbidden: { reasons: ['MailboxMissing'] },
  notFound: { reasons: ['MailboxMissing'] },
  gone: null,
  // Of a search that is refused the library does not say why.
  tooManyRequests: { reasons: ['RateLimited', 'UpstreamError'] },
  unavailable: { reasons: ['UpstreamError', 'MailboxMissing', 'Rejected', 'Unreachable'] },
  silence: { reasons: ['Timeout'] },
  lost: { reasons: ['Unreachable'] },
  garbage: { reasons: ['InvalidAnswer', 'Unreachable', 'Timeout'] },
  endless: { reasons: ['InvalidAnswer'] },
};

/** A process for many connections, of which the suite makes hundreds. */
const REUSED = [
  'service imap-login {',
  '  service_count = 0',
  '}',
  'service imap {',
  '  service_count = 1000',
  '}',
];

type Login = { spec: (port: number, username: string) => CredentialSpec; secrets: Record<string, string> };

type Named = Pick<Driver, 'title' | 'credential' | 'preset' | 'differsByLogin'>;

function driverOf(named: Named, { spec, secrets }: Login): Driver {
  return {
    ...named,
    kind: 'mail',
    faults: FAULTS_OF_IMAP,
    saysWhen: false,
    nameOf: ({ data_content }) => (data_content as { subject: string }).subject,
    start: async () => {
      // What a provider says of a token (RFC 7662): each is good for the user that it names.
      const provider = await listen(async (request, response) => {
        const username = new URLSearchParams(await readBody(request)).get('token');
        sendJson(response, 200, { active: true, username });
      });
      const introspectionURL = `${provider.url}/introspect`;
      const server = await startDovecot({ tokens: { introspectionURL }, config: REUSED });
      let users = 0;
      return {
        account: async (): Promise<Account> => {
          const username = `user${(users += 1)}`;
          const proxy = await startImapProxy(server.port);
          const client = await server.client(username);
          const filled = Object.entries(secrets).map(([key, value]) => [key, value || username]);
          return {
            spec: spec(proxy.port, username),
            secrets: Object.fromEntries(filled) as Record<string, string>,
            fields: { attachments: 'Content' },
            proxy,
            add: async (name) => {
              const mail = `From: ada@example.com\r\nSubject: ${name}\r\n\r\nbody of ${name}\r\n`;
              await client.append('INBOX', Buffer.from(mail));
            },
            large: {
              fill: async () => undefined,
              burst: async () => {
                for (const mail of largeMails()) await client.append('INBOX', mail);
                return LARGE_MAILS;
              },
            },
            close: async () => {
              await client.logout();
              await proxy.close();
            },
          };
        },
        stop: async () => {
          await server.close();
          await provider.close();
        },
      };
    },
  };
}

const at = (port: number, username: string) => ({ host: '127.0.0.1', port, tls: 'None', username }) as const;

export const imapDriver: Driver = driverOf(
  { title: 'mail by IMAP', credential: 'imap' },
  {
    spec: (port, username) => ({
      imap: { ...at(port, username), passwordRef: { name: 'accounts', key: 'password' } },
    }),
    secrets: { password: IMAP_PASSWORD },
  },
);

export const imapTokenDriver: Driver = driverOf(
  {
    title: 'mail by IMAP with an access token',
    credential: 'oauth2',
    preset: 'microsoft',
    differsByLogin: true,
  },
  {
    spec: (port, username) => ({
      oauth2: { preset: 'microsoft', clientID: 'client', imap: at(port, username) },
    }),
    secrets: { access_token: '' },
  },
);
