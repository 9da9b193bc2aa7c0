/** The choices of the dialog for new credentials: each kind with its texts and preset fields. */
import type { CredentialKind } from '../../api/credential.ts';

export type Choice = {
  id: string;
  kind: CredentialKind;
  label: string;
  sentence: string;
  /** Preset fields, which the form does not ask for. */
  start: Record<string, unknown>;
  /** Other fields that the form omits. */
  without: readonly string[];
  /** Optional fields that most people need. Others are under "More fields". */
  shown: readonly string[];
  /** The order of its first fields. Left out: required ones first. */
  order?: readonly string[];
  /** Optional fields without which it is of no use. */
  needed?: readonly string[];
  /** How to get such an account. */
  hint: string;
};

const OF_CUSTOM = [
  'authorizationURL',
  'tokenURL',
  'userinfoURL',
  'revocationURL',
  'issuer',
  'clientAuthentication',
];

/** The most frequent choices come first. */
export const CHOICES: readonly Choice[] = [
  {
    id: 'openai',
    kind: 'openai',
    label: 'OpenAI or compatible',
    sentence: 'Language model: an API key for OpenAI or any service with a compatible API.',
    start: {},
    without: [],
    shown: ['baseURL'],
    hint: 'The base URL includes /v1. Leave it empty for OpenAI. Mistral, Groq, OpenRouter and vLLM each document their own.',
  },
  {
    id: 'anthropic',
    kind: 'anthropic',
    label: 'Anthropic (Claude)',
    sentence: "Language model: an API key for Anthropic's models.",
    start: {},
    without: [],
    shown: [],
    hint: 'Create the key at platform.claude.com, under API keys.',
  },
  {
    id: 'gemini',
    kind: 'openai',
    label: 'Google Gemini',
    sentence: "Language model: an API key for Google's models.",
    start: { baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai' },
    without: [],
    shown: ['baseURL'],
    hint: 'Create the key at aistudio.google.com, under API keys.',
  },
  {
    id: 'azure-openai',
    kind: 'openai',
    label: 'Azure OpenAI',
    sentence: 'Language model: an API key for models deployed in Azure.',
    start: { baseURL: 'https://<resource>.openai.azure.com/openai/v1' },
    without: [],
    shown: ['baseURL'],
    hint: 'Replace <resource> in the base URL. The key is under Keys and Endpoint. The model of an agent is the name of the deployment.',
  },
  {
    id: 'ollama',
    kind: 'openai',
    label: 'Ollama',
    sentence: 'Language model: models that you run yourself.',
    start: { baseURL: 'http://ollama.ollama.svc:11434/v1' },
    without: [],
    shown: ['baseURL'],
    hint: 'Replace the host of the base URL. Any text serves as key. An address inside the cluster must be in runner.egress.allow of the chart or in egress.allow of the ProjectSettings.',
  },
  {
    id: 'smtp',
    kind: 'smtp',
    label: 'Send email (SMTP)',
    sentence: 'A mail server for outgoing email. Used by nodes that send email.',
    start: {},
    without: [],
    shown: ['port', 'tls', 'username', 'passwordRef'],
    order: ['host', 'port', 'tls', 'username', 'passwordRef', 'from'],
    hint: 'Gmail: smtp.gmail.com and an app password. Microsoft 365: smtp.office365.com. Amazon SES, Mailgun, SendGrid, Postmark and Brevo list host and user on their SMTP page; the password is an API key.',
  },
  {
    id: 'imap',
    kind: 'imap',
    label: 'Read email (IMAP)',
    sentence: 'A mailbox to poll. Used by the trigger New email.',
    start: {},
    without: [],
    shown: ['port', 'tls'],
    order: ['host', 'port', 'tls', 'username', 'passwordRef'],
    hint: 'Gmail: imap.gmail.com and an app password. iCloud: imap.mail.me.com. Fastmail and Yahoo require an app password. Microsoft 365 does not allow passwords: use a Microsoft account.',
  },
  {
    id: 'google',
    kind: 'oauth2',
    label: 'Google account',
    sentence: 'Gmail, Google Sheets and Google Drive. You sign in with the browser.',
    start: { preset: 'google' },
    without: ['preset', ...OF_CUSTOM],
    shown: ['clientSecretRef'],
    needed: ['clientSecretRef'],
    hint: 'At console.cloud.google.com, under APIs & Services, create an OAuth client ID of type Web application and enable the APIs that your workflows use.',
  },
  {
    id: 'microsoft',
    kind: 'oauth2',
    label: 'Microsoft account',
    sentence: 'Outlook, Excel and OneDrive. You sign in with the browser.',
    start: { preset: 'microsoft' },
    without: ['preset', ...OF_CUSTOM],
    shown: ['clientSecretRef', 'imap'],
    needed: ['clientSecretRef'],
    hint: 'At entra.microsoft.com, under App registrations, register an app of type Web and create a client secret under Certificates & secrets.',
  },
  {
    id: 'http',
    kind: 'http',
    label: 'HTTP API',
    sentence: 'A token, API key or password for an HTTP API. Used by HTTP requests.',
    start: {},
    without: [],
    shown: ['allowedHosts', 'checkURL'],
    needed: ['allowedHosts'],
    hint: 'Only allowed hosts receive the secret. Set a test URL, for example https://api.github.com/user, to check that the credential works.',
  },
  {
    id: 'telegram',
    kind: 'bot',
    label: 'Telegram bot',
    sentence: 'A bot that receives and sends messages.',
    start: { platform: 'telegram' },
    without: ['platform', 'signingSecretRef'],
    shown: [],
    hint: 'Send /newbot to @BotFather in Telegram. It replies with the token.',
  },
  {
    id: 'slack',
    kind: 'bot',
    label: 'Slack bot',
    sentence: 'A Slack app that receives and sends messages.',
    start: { platform: 'slack' },
    without: ['platform'],
    shown: ['signingSecretRef'],
    hint: 'At api.slack.com/apps, create an app with the scope chat:write and install it. The token starts with xoxb-. The signing secret is under Basic Information.',
  },
  {
    id: 's3',
    kind: 's3',
    label: 'S3 bucket',
    sentence: 'Files in AWS S3, MinIO, Cloudflare R2 or another S3-compatible store.',
    start: {},
    without: [],
    shown: ['region'],
    hint: 'AWS: https://s3.<region>.amazonaws.com and the access key of an IAM user. Cloudflare R2: https://<account>.r2.cloudflarestorage.com, region auto.',
  },
  {
    id: 'custom',
    kind: 'oauth2',
    label: 'Another account (OAuth 2)',
    sentence: 'Any OAuth 2 provider, for example Keycloak. You sign in with the browser.',
    start: { preset: 'custom' },
    without: ['preset'],
    shown: [
      'authorizationURL',
      'tokenURL',
      'userinfoURL',
      'issuer',
      'clientSecretRef',
      'scopes',
      'allowedHosts',
    ],
    hint: 'The URLs are listed at <issuer>/.well-known/openid-configuration. Most providers need the scope offline_access to renew access. HTTP requests send the access token only to allowed hosts.',
  },
];

/** The choices that produce a credential of one of these kinds; all if `kinds` is empty. */
export function choicesFor(kinds: readonly string[]): readonly Choice[] {
  return kinds.length === 0 ? CHOICES : CHOICES.filter(({ kind }) => kinds.includes(kind));
}

function modelServiceOf(baseURL: unknown): string {
  if (typeof baseURL !== 'string') return 'openai';
  if (baseURL.includes('//generativelanguage.googleapis.com/')) return 'gemini';
  if (baseURL.includes('.openai.azure.com/')) return 'azure-openai';
  return baseURL.includes('//ollama') ? 'ollama' : 'openai';
}

/** The choice that a credential was created from, as far as its spec shows. */
export function choiceOf(kind: CredentialKind, fields: Record<string, unknown>): Choice {
  const { preset = 'custom', platform = 'telegram' } = fields;
  const names: Partial<Record<CredentialKind, unknown>> = {
    oauth2: preset,
    bot: platform,
    openai: modelServiceOf(fields['baseURL']),
  };
  const id = names[kind] ?? kind;
  const choice = CHOICES.find((each) => each.id === id);
  if (choice === undefined) throw new Error(`there is no choice for a credential of kind ${kind}`);
  return choice;
}
