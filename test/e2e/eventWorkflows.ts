/** The workflows of the test of events, with their accounts: they are all that it applies. */
import { GOOGLE } from '../support/installation/demoGoogle.ts';
import { demoNamespace } from '../support/installation/install.ts';
import { CLIENT } from '../support/providers/oauth/oauthProvider.ts';
import { SLACK_TOKEN } from '../support/providers/slack/slackServer.ts';
import { tokenOf } from '../support/providers/telegram/telegramServer.ts';
import { workflowOf } from './environment.ts';

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
/** From one poll to the next. */
const INTERVAL_S = 5;
export const BUCKET = 'letters';

const at = (server: string, port: number) => `http://${server}.${demoNamespace}.svc:${port}`;
const key = (name: string) => ({ name: 'accounts', key: name });
const credential = (name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name },
  spec,
});

/** What the credentials name. */
export const secretOf = (bot: number) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'accounts' },
  stringData: {
    telegram: tokenOf(bot),
    slack: SLACK_TOKEN,
    signing: SIGNING_SECRET,
    client: CLIENT.secret,
    id: 'demo-access-key',
    secret: 'demo-secret-access-key',
  },
});

export const telegramAccount = () =>
  credential('telegram', { bot: { tokenRef: key('telegram'), apiURL: at('telegram', 8081) } });

/** Those of all bots, spreadsheets and files. */
export const accounts = () => [
  telegramAccount(),
  credential('slack', {
    bot: {
      platform: 'slack',
      tokenRef: key('slack'),
      signingSecretRef: key('signing'),
      apiURL: `${at('slack', 3001)}/api`,
    },
  }),
  credential('files', {
    s3: {
      endpoint: at('s3', 7070),
      bucket: BUCKET,
      accessKeyIdRef: key('id'),
      secretAccessKeyRef: key('secret'),
    },
  }),
  credential('sheets', {
    oauth2: {
      authorizationURL: `${GOOGLE}/auth`,
      tokenURL: `${GOOGLE}/token`,
      userinfoURL: `${GOOGLE}/me`,
      issuer: GOOGLE,
      clientID: CLIENT.id,
      clientSecretRef: key('client'),
      scopes: ['openid', 'email', 'offline_access'],
      apiURL: at('google', 8081),
    },
  }),
];

/** Answers in the same chat. */
export const bot = (platform: 'telegram' | 'slack', active: boolean, mark = '') => {
  const parameters = {
    chatId: "{{ $('trigger').data_content.chat_id }}",
    text: `${mark} {{ $('trigger').text_content }}`,
  };
  const nodes = [
    { id: 'trigger', bot: { credential: platform } },
    { id: 'answer', skill: { name: 'send_message', credential: platform, parameters } },
  ];
  return workflowOf(platform, nodes, { active });
};

/** Watches a spreadsheet. */
export const sheet = (name: string, active: boolean, spreadsheetId: string) => {
  const poll = { credential: 'sheets', pollIntervalSeconds: INTERVAL_S };
  const spreadsheet = { ...poll, spreadsheetId, keyColumn: 'Number' };
  return workflowOf(name, [{ id: 'trigger', spreadsheet }], { active });
};

/** Watches a folder of the bucket. */
export const files = (name: string, active: boolean, folderId: string) => {
  const fileStorage = { credential: 'files', pollIntervalSeconds: INTERVAL_S, folderId };
  return workflowOf(name, [{ id: 'trigger', fileStorage }], { active });
};
