/** Stubs of Credentials: the kind and where the secret belongs, never a secret. */
import type { CredentialSpec } from '../../../api/credential.ts';

type Stub = { spec: CredentialSpec; note?: string };

const MODELS: Record<string, string | undefined> = {
  openAiApi: undefined,
  openRouterApi: 'https://openrouter.ai/api/v1',
  groqApi: 'https://api.groq.com/openai/v1',
  mistralCloudApi: 'https://api.mistral.ai/v1',
  deepSeekApi: 'https://api.deepseek.com/v1',
  xAiApi: 'https://api.x.ai/v1',
  ollamaApi: 'http://ollama.ollama.svc:11434/v1',
  googlePalmApi: 'https://generativelanguage.googleapis.com/v1beta/openai',
  azureOpenAiApi: 'https://example.openai.azure.com/openai/v1',
  cohereApi: 'https://api.cohere.ai/compatibility/v1',
  huggingFaceApi: 'https://router.huggingface.co/v1',
  nvidiaApi: 'https://integrate.api.nvidia.com/v1',
};

/** Types of credentials of APIs, with the hosts that get the secret and the header that has it. */
const APIS: Record<string, { hosts: string[]; header?: string; basic?: true; query?: string }> = {
  airtableTokenApi: { hosts: ['api.airtable.com'] },
  airtableApi: { hosts: ['api.airtable.com'] },
  airtableOAuth2Api: { hosts: ['api.airtable.com'] },
  notionApi: { hosts: ['api.notion.com'] },
  notionOAuth2Api: { hosts: ['api.notion.com'] },
  githubApi: { hosts: ['api.github.com'] },
  githubOAuth2Api: { hosts: ['api.github.com'] },
  hubspotApi: { hosts: ['api.hubapi.com'] },
  hubspotAppToken: { hosts: ['api.hubapi.com'] },
  hubspotOAuth2Api: { hosts: ['api.hubapi.com'] },
  pipedriveApi: { hosts: ['api.pipedrive.com'], header: 'x-api-token' },
  discordBotApi: { hosts: ['discord.com'], header: 'Authorization' },
  discordWebhookApi: { hosts: ['discord.com'] },
  todoistApi: { hosts: ['api.todoist.com'] },
  todoistOAuth2Api: { hosts: ['api.todoist.com'] },
  whatsAppApi: { hosts: ['graph.facebook.com'] },
  facebookGraphApi: { hosts: ['graph.facebook.com'] },
  linkedInOAuth2Api: { hosts: ['api.linkedin.com'] },
  twitterOAuth2Api: { hosts: ['api.x.com'] },
  spotifyOAuth2Api: { hosts: ['api.spotify.com'] },
  slackApi: { hosts: ['slack.com'] },
  slackOAuth2Api: { hosts: ['slack.com'] },
  twilioApi: { hosts: ['api.twilio.com'], basic: true },
  openWeatherMapApi: { hosts: ['api.openweathermap.org'], query: 'appid' },
  serpApi: { hosts: ['serpapi.com'], query: 'api_key' },
  hunterApi: { hosts: ['api.hunter.io'], query: 'api_key' },
  linearApi: { hosts: ['api.linear.app'], header: 'Authorization' },
  clickUpApi: { hosts: ['api.clickup.com'], header: 'Authorization' },
  asanaApi: { hosts: ['app.asana.com'] },
  trelloApi: { hosts: ['api.trello.com'], query: 'token' },
  calendlyApi: { hosts: ['api.calendly.com'] },
  openAiApi: { hosts: ['api.openai.com'] },
  anthropicApi: { hosts: ['api.anthropic.com'], header: 'x-api-key' },
  googlePalmApi: { hosts: ['generativelanguage.googleapis.com'], header: 'x-goog-api-key' },
  stripeApi: { hosts: ['api.stripe.com'] },
  httpBasicAuth: { hosts: [], basic: true },
  httpHeaderAuth: { hosts: [], header: 'X-API-Key' },
  httpQueryAuth: { hosts: [], query: 'api_key' },
  jiraSoftwareCloudApi: { hosts: ['example.atlassian.net'], basic: true },
  wordpressApi: { hosts: [], basic: true },
  wooCommerceApi: { hosts: [], basic: true },
  zendeskApi: { hosts: [], basic: true },
  supabaseApi: { hosts: [], header: 'apikey' },
  qdrantApi: { hosts: [], header: 'api-key' },
};

const UNKNOWN_HOST = 'api.example.com';

/** The stub of a Credential for an account at an API, which `http_request` uses. */
function httpStub(name: string, type: string, host?: string): Stub {
  if (isGoogle(type)) return { spec: oauth2(name, 'google') };
  if (/^microsoft.*OAuth2Api$/i.test(type)) return { spec: oauth2(name, 'microsoft') };
  const { hosts = [], header, basic, query } = APIS[type] ?? {};
  const allowedHosts = [...new Set([...hosts, ...(host === undefined ? [] : [host])])];
  const more = { allowedHosts: allowedHosts.length > 0 ? allowedHosts : [UNKNOWN_HOST] };
  const ref = (key: string) => ({ name, key });
  if (basic)
    return { spec: { http: { basic: { username: 'user', passwordRef: ref('password') }, ...more } } };
  if (query !== undefined)
    return { spec: { http: { query: { name: query, valueRef: ref('value') }, ...more } } };
  if (header !== undefined)
    return { spec: { http: { header: { name: header, valueRef: ref('value') }, ...more } } };
  return { spec: { http: { bearer: { tokenRef: ref('token') }, ...more } } };
}

const isGoogle = (type: string): boolean =>
  /^(?:google|gmail|youTube|gSuite).*(?:OAuth2Api|OAuth2|Api)$/i.test(type) && type !== 'googlePalmApi';

const oauth2 = (name: string, preset: 'google' | 'microsoft'): CredentialSpec => ({
  oauth2: { preset, clientID: 'replace-me', clientSecretRef: { name, key: 'client-secret' } },
});

/** The stub of a Credential by the type that n8n has for it, for skills, triggers and agents. */
export function stubOf(name: string, type: string, host?: string): Stub {
  const ref = (key: string) => ({ name, key });
  switch (type) {
    case 'smtp':
      return {
        spec: {
          smtp: {
            host: 'smtp.example.com',
            username: 'user',
            passwordRef: ref('password'),
            from: 'Example <user@example.com>',
          },
        },
      };
    case 'imap':
      return { spec: { imap: { host: 'imap.example.com', username: 'user', passwordRef: ref('password') } } };
    case 'telegramApi':
      return { spec: { bot: { platform: 'telegram', tokenRef: ref('token') } } };
    case 'slackBot':
      return {
        spec: { bot: { platform: 'slack', tokenRef: ref('token'), signingSecretRef: ref('signing-secret') } },
      };
    case 's3':
    case 'aws':
      return {
        spec: {
          s3: {
            endpoint: 'https://s3.amazonaws.com',
            bucket: 'replace-me',
            accessKeyIdRef: ref('access-key-id'),
            secretAccessKeyRef: ref('secret-access-key'),
          },
        },
      };
    case 'model:anthropicApi':
      return { spec: { anthropic: { apiKeyRef: ref('api-key') } } };
    default:
      return type.startsWith('model:') ? modelStub(name, type.slice(6)) : httpStub(name, type, host);
  }
}

function modelStub(name: string, type: string): Stub {
  const baseURL = MODELS[type];
  return {
    spec: { openai: { ...(baseURL !== undefined && { baseURL }), apiKeyRef: { name, key: 'api-key' } } },
  };
}
