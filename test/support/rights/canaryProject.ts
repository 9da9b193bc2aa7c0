/**
 * A project in which each path fails: credentials that are refused, webhooks whose callers are, and a
 * workflow for each way in which a step can fail. The secrets are canaries.
 */
import { inSecrets } from './canaryTexts.ts';

/** Where careless servers are, which repeat what they were sent. */
type CarelessServers = { echoURL: string; mailPort: number };

const NOBODY = 'http://127.0.0.1:1/';

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});
const ref = (key: keyof typeof inSecrets) => ({ name: 'canaries', key });
const mailStep = (credential: string, to = 'b@example.com') => ({
  skill: { name: 'send_email', credential, parameters: { to, subject: 'Hello', body: 'Hello' } },
});
const call = (url: string, credential?: string, more: object = {}) => ({
  skill: {
    name: 'http_request',
    ...(credential !== undefined && { credential }),
    parameters: { url, ...more },
  },
});
const agent = (credential: string) => ({ agent: { credential, model: 'gpt', prompt: 'Hello' } });
const set = (values: string) => ({ skill: { name: 'set', parameters: { values } } });
const INPUT = "{{ $('trigger').data_content.secret }}";

/** The ways in which a credential of an API is sent. */
export const APIS = ['basic', 'bearer', 'header', 'query'] as const;

/** A step that fails, by the name of its workflow. */
function failingSteps(echoURL: string): Record<string, object> {
  const ofApi = APIS.map((kind): [string, object][] => [
    [`${kind}-500`, call(`${echoURL}/500`, kind)],
    [`${kind}-400`, call(`${echoURL}/400`, kind)],
    [`${kind}-401`, call(`${echoURL}/401`, kind, { method: 'POST', body: { a: 1 } })],
    [`${kind}-away`, call(NOBODY, kind)],
    [`${kind}-tls`, call(echoURL.replace('http:', 'https:'), kind)],
    [`${kind}-elsewhere`, call(`${echoURL}/302`, kind, { followRedirects: 2 })],
    [`${kind}-large`, call(`${echoURL}/200`, kind, { maxResponseBytes: 100 })],
  ]);
  return {
    mail: mailStep('smtp'),
    model: agent('model'),
    'model-away': agent('model-away'),
    ...Object.fromEntries(ofApi.flat()),
    'no-header': call(echoURL, 'no-header'),
    missing: { response: { body: `${INPUT} {{ $('trigger').data_content.missing }}` } },
    cel: set('int(nodes.trigger.data_content.secret)'),
    'cel-index': set('nodes.trigger.data_content[nodes.trigger.data_content.secret]'),
    'bad-url': call(INPUT),
    'bad-header': call(echoURL, undefined, { headers: { 'x-a': `a\n${INPUT}` } }),
    'bad-recipient': mailStep('smtp', INPUT),
    'port-of-url': call(`http://127.0.0.1:${INPUT}/`),
  };
}

/** The manifest of all of it, and of a workflow `last`, which works. */
export function failingProject({ echoURL, mailPort }: CarelessServers): string {
  const http = {
    basic: { basic: { username: 'ada', passwordRef: ref('basic') } },
    bearer: { bearer: { tokenRef: ref('bearer') } },
    header: { header: { name: 'x-key', valueRef: ref('header') } },
    query: { query: { name: 'key', valueRef: ref('query') } },
    'no-header': { header: { name: 'x-key', valueRef: ref('no-header') } },
  };
  const openai = (key: keyof typeof inSecrets, baseURL: string) => ({
    openai: { baseURL, apiKeyRef: ref(key) },
  });
  const smtp = {
    host: '127.0.0.1',
    port: mailPort,
    tls: 'None',
    from: 'a@example.com',
    username: 'ada',
    passwordRef: ref('smtp'),
  };
  const auth = {
    hmac: { hmac: { header: 'x-signature', algorithm: 'sha256', secretRefs: [ref('hmac')] } },
    github: { github: { secretRefs: [ref('github')] } },
    'hook-bearer': { bearer: { secretRefs: [ref('hook-bearer')] } },
    'hook-basic': { basic: { username: 'ada', passwordRefs: [ref('hook-basic')] } },
    'hook-bad': { bearer: { secretRefs: [ref('hook-bad')] } },
  };
  const answer = { id: 'step', response: { body: {} } };
  const hooks = Object.entries({ open: undefined, ...auth }).map(([name, auth]) =>
    object('Workflow', name, {
      active: true,
      nodes: [{ id: 'trigger', webhook: { path: 'hook', ...(auth && { auth }) } }, answer],
    }),
  );
  const stringData = Object.fromEntries(Object.entries(inSecrets).map(([key, { text }]) => [key, text]));
  const objects = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'canaries' }, stringData },
    object('Credential', 'smtp', { smtp }),
    object('Credential', 'model', openai('model', `${echoURL}/401`)),
    object('Credential', 'model-away', openai('model-away', `${NOBODY}v1`)),
    ...Object.entries(http).map(([name, spec]) =>
      object('Credential', name, {
        http: { ...spec, allowedHosts: ['*', 'http://*'], checkURL: `${echoURL}/401` },
      }),
    ),
    ...hooks,
    ...Object.entries(failingSteps(echoURL)).map(([name, step]) =>
      object('Workflow', `fails-${name}`, {
        active: true,
        nodes: [
          { id: 'trigger', manual: {} },
          { id: 'step', ...step },
        ],
      }),
    ),
    object('Workflow', 'last', { active: true, nodes: [{ id: 'trigger', manual: {} }, answer] }),
  ];
  return objects.map((each) => JSON.stringify(each)).join('\n---\n');
}
