/**
 * Secrets, and what callers send, on every path that fails: none of it is in a log, a status, an Event, a metric or an answer, and in
 * records and the run store only what docs/security.md says.
 */
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Credential } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { configMaps } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/resources.ts';
import { createCanary, findCanaries, type Canary, type Source } from '../../support/canaries.ts';
import { openCanaryStage, PROJECT, type CanaryStage } from '../../support/canaryStage.ts';
import { startEchoMailServer, startEchoServer } from '../../support/echoServer.ts';
import type { Listening } from '../../support/listen.ts';
import { pollUntil } from '../../support/poll.ts';
import { ask, type Ask } from '../../support/rawCalls.ts';

const AWKWARD = [`p"ä'\\ %+/=&<`, '&<>~"\\'] as const;
/** What headers can hold. */
const PRINTABLE = [`p"'\\ %+/=&<`, '&<>~"x'] as const;

/** What credentials and webhooks are made of, each in a key of one Secret. */
const held = {
  smtp: createCanary('password of a mail account', ...AWKWARD),
  model: createCanary('API key', ...PRINTABLE),
  'model-away': createCanary('API key of a model that is away', ...PRINTABLE),
  basic: createCanary('password of an API', ...AWKWARD),
  bearer: createCanary('token of an API', ...PRINTABLE),
  header: createCanary('header of an API', ...PRINTABLE),
  query: createCanary('parameter of an API', ...AWKWARD),
  'no-header': createCanary('header that cannot be sent', 'line\n', '\r\nx'),
  hmac: createCanary('secret of hmac', ...AWKWARD),
  github: createCanary('secret of github', ...AWKWARD),
  'hook-bearer': createCanary('secret of bearer', ...PRINTABLE),
  'hook-basic': createCanary('secret of basic', ...PRINTABLE),
  'hook-bad': createCanary('secret with a line break', 'a\n', '\n'),
};
/** What callers send and is refused. */
const sent = {
  token: createCanary('token that nobody knows'),
  authorization: createCanary('authorization of a webhook', ...PRINTABLE),
  signature: createCanary('signature of a webhook'),
  header: createCanary('header that is not admitted', ...PRINTABLE),
  longKey: createCanary('key that is too long', 'k'.repeat(1_100)),
  notJson: createCanary('body that is no JSON', '{"a": ', ' '),
  notUtf8: createCanary('body that is too deep', '['.repeat(80), ''),
  tooLarge: createCanary('body that is too large'),
  form: createCanary('body of another type', 'a=', '&b'),
  path: createCanary('path', '', '%22%5c'),
  search: createCanary('query', 'a%22', '%5c'),
};
/** What is stored, and where. */
const stored = {
  key: createCanary('key of an event', `k"'\\`, '%&'),
  input: createCanary('input', ...AWKWARD),
};
const redisPassword = createCanary('wrong password of the run store', ...PRINTABLE);
const damaged = createCanary('value of a wrong type', ...AWKWARD);
const planted = createCanary('planted', ...AWKWARD);

let echo: Listening;
let mail: { port: number; close(): void };
let canaries: CanaryStage;
const answers: string[] = [];

const object = (kind: string, name: string, spec: object) => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});
const ref = (key: keyof typeof held) => ({ name: 'held', key });
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

const APIS = ['basic', 'bearer', 'header', 'query'] as const;

/** A step that fails, by the name of its workflow. */
function failingSteps(): Record<string, object> {
  const closed = 'http://127.0.0.1:1/';
  const ofApi = APIS.map((kind): [string, object][] => [
    [`${kind}-500`, call(`${echo.url}/500`, kind)],
    [`${kind}-400`, call(`${echo.url}/400`, kind)],
    [`${kind}-401`, call(`${echo.url}/401`, kind, { method: 'POST', body: { a: 1 } })],
    [`${kind}-away`, call(closed, kind)],
    [`${kind}-tls`, call(echo.url.replace('http:', 'https:'), kind)],
    [`${kind}-elsewhere`, call(`${echo.url}/302`, kind, { followRedirects: 2 })],
    [`${kind}-large`, call(`${echo.url}/200`, kind, { maxResponseBytes: 100 })],
  ]);
  return {
    mail: mailStep('smtp'),
    model: agent('model'),
    'model-away': agent('model-away'),
    ...Object.fromEntries(ofApi.flat()),
    'no-header': call(echo.url, 'no-header'),
    missing: { response: { body: `${INPUT} {{ $('trigger').data_content.missing }}` } },
    cel: set('int(nodes.trigger.data_content.secret)'),
    'cel-index': set('nodes.trigger.data_content[nodes.trigger.data_content.secret]'),
    'bad-url': call(INPUT),
    'bad-header': call(echo.url, undefined, { headers: { 'x-a': `a\n${INPUT}` } }),
    'bad-recipient': mailStep('smtp', INPUT),
    'user-in-url': call(`http://a:${INPUT}@127.0.0.1:1/`),
  };
}

function manifest(steps: Record<string, object>): string {
  const http = {
    basic: { basic: { username: 'ada', passwordRef: ref('basic') } },
    bearer: { bearer: { tokenRef: ref('bearer') } },
    header: { header: { name: 'x-key', valueRef: ref('header') } },
    query: { query: { name: 'key', valueRef: ref('query') } },
    'no-header': { header: { name: 'x-key', valueRef: ref('no-header') } },
  };
  const openai = (key: keyof typeof held, baseURL: string) => ({ openai: { baseURL, apiKeyRef: ref(key) } });
  const smtp = {
    host: '127.0.0.1',
    port: mail.port,
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
  const stringData = Object.fromEntries(Object.entries(held).map(([key, { text }]) => [key, text]));
  const objects = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'held' }, stringData },
    object('Credential', 'smtp', { smtp }),
    object('Credential', 'model', openai('model', `${echo.url}/401`)),
    object('Credential', 'model-away', openai('model-away', 'http://127.0.0.1:1/v1')),
    ...Object.entries(http).map(([name, spec]) =>
      object('Credential', name, { http: { ...spec, checkURL: `${echo.url}/401` } }),
    ),
    ...hooks,
    ...Object.entries(steps).map(([name, step]) =>
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

const SOON = { timeoutMs: 40_000, everyMs: 100 };

beforeAll(async () => {
  [echo, mail] = await Promise.all([startEchoServer(), startEchoMailServer()]);
  canaries = await openCanaryStage(manifest(failingSteps()), 'last');
}, 120_000);
afterAll(async () => {
  await canaries?.stop();
  await echo?.close();
  mail?.close();
});

/** Asks, and keeps the answer. */
async function keep(url: string, request: Ask): Promise<string> {
  const answer = await ask(url, request);
  answers.push(answer);
  return answer;
}

const hook = (name: string, request: Omit<Ask, 'path'> = {}): Promise<string> =>
  keep(canaries.gateway.publicURL, {
    method: 'POST',
    body: '{}',
    path: `/webhook/${PROJECT}.${name}/hook`,
    ...request,
  });

test.each([
  'mail',
  'model',
  'model-away',
  'no-header',
  'missing',
  'cel',
  'cel-index',
  'bad-url',
  'bad-header',
  'bad-recipient',
  'user-in-url',
  ...APIS.flatMap((kind) =>
    ['500', '400', '401', 'away', 'tls', 'elsewhere', 'large'].map((how) => `${kind}-${how}`),
  ),
])('a step that fails: %s', async (name) => {
  const request = {
    method: 'POST',
    path: `/workflows/${PROJECT}.fails-${name}/execute`,
    token: canaries.caller,
    headers: { prefer: 'wait=30' },
    body: JSON.stringify({ secret: stored.input.text }),
  };
  const answer = await pollUntil(
    'a run',
    async () => {
      const got = await ask(canaries.gateway.internalURL, request);
      return !got.startsWith('404 ') && got;
    },
    SOON,
  );
  expect(answer).toMatch(/^200 [^]*"phase":"Failed"/);
  expect(found(Object.values(held), [{ name: 'the answer', text: answer }])).toEqual([]);
});

const found = findCanaries;

test('credentials that are tried say what servers repeat, without the secrets', async () => {
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/credentials`;
  const tried = async (): Promise<string[]> => {
    const { items } = (await canaries.stage.client.raw('GET', path)) as { items: Credential[] };
    return items.flatMap(({ metadata, status }) => {
      const { reason = '', status: is } = findCondition(status?.conditions, 'Ready') ?? {};
      return is === 'False' ? [`${metadata.name} ${reason}`] : [];
    });
  };
  await expect
    .poll(async () => (await tried()).toSorted(), { timeout: 40_000, interval: 100 })
    .toEqual([
      'basic Rejected',
      'bearer Rejected',
      'header Rejected',
      'model Rejected',
      'model-away Unreachable',
      'no-header Rejected',
      'query Rejected',
      'smtp Rejected',
    ]);
}, 60_000);

test('callers that are refused are not repeated', async () => {
  const { internalURL, publicURL } = canaries.gateway;
  const execute = { method: 'POST', path: `/workflows/${PROJECT}.last/execute`, body: '{}' };
  await pollUntil('the webhooks', async () => !(await hook('hmac')).startsWith('404 '), SOON);
  const authorization = `Bearer ${sent.authorization.text}`;
  const basic = `Basic ${btoa(`ada:${sent.authorization.text}`)}`;
  const got = await Promise.all([
    keep(internalURL, { ...execute, token: sent.token.text }),
    keep(internalURL, { ...execute, path: '/workflows/other.last/execute', token: canaries.caller }),
    hook('hook-bearer', { headers: { authorization } }),
    hook('hook-basic', { headers: { authorization: basic } }),
    hook('hook-bad', { headers: { authorization } }),
    hook('github', { headers: { 'x-hub-signature-256': `sha256=${sent.signature.text}` } }),
    hook('hmac', { headers: { 'x-signature': sent.signature.text } }),
    hook('open', { headers: { 'idempotency-key': sent.longKey.text } }),
    hook('open', { body: sent.notJson.text }),
    hook('open', { body: `${sent.notUtf8.text}${']'.repeat(80)}` }),
    hook('open', { body: JSON.stringify(sent.tooLarge.text.repeat(80_000)) }),
    hook('open', { body: sent.form.text, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    keep(publicURL, { method: 'POST', path: `/webhook/${sent.path.text}/hook`, body: '{}' }),
    keep(internalURL, { path: `/workflows/${PROJECT}.${sent.path.text}/runs`, token: canaries.caller }),
    keep(internalURL, { path: `/${sent.path.text}?a=${sent.search.text}` }),
    keep(internalURL, {
      ...execute,
      path: `${execute.path}?test=${sent.search.text}`,
      token: canaries.caller,
    }),
  ]);
  expect(got.map((answer) => answer.slice(0, 3))).toEqual([
    '401',
    '403',
    '401',
    '401',
    '503',
    '401',
    '401',
    '400',
    '400',
    '422',
    '413',
    '415',
    '404',
    '404',
    '404',
    '400',
  ]);
});

test('what is not admitted of an event is not kept, and one that is repeated otherwise is refused without its key', async () => {
  const headers = { 'idempotency-key': stored.key.text, 'x-other': sent.header.text };
  const body = JSON.stringify({ secret: stored.input.text });
  expect(await hook('open', { headers, body })).toMatch(/^200 /);
  expect(await hook('open', { headers, body: '{}' })).toMatch(/^422 /);
});

test('programs that cannot log in to the run store do not say with what', async () => {
  const env = { REDIS_PASSWORD: redisPassword.text };
  await Promise.all([canaries.failing('gateway', env), canaries.failing('runner', env)]);
  for (const name of ['another gateway', 'another runner']) {
    const text = canaries.logs[name]?.join('\n') ?? '';
    expect(text).toContain('"listening"');
    expect(found([redisPassword], [{ name, text }])).toEqual([]);
  }
}, 90_000);

test('keys of a wrong type are told by their names', async () => {
  const route = (await canaries.stage.client.raw(
    'GET',
    `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/webhookroutes/last`,
  )) as { spec: { workflowUID: string } };
  const name = `wl:{${canaries.uid}}:wf:${route.spec.workflowUID}`;
  await canaries.store.command('set', name, damaged.text);
  const answer = await keep(canaries.gateway.internalURL, {
    method: 'POST',
    path: `/workflows/${PROJECT}.last/execute`,
    token: canaries.caller,
    body: JSON.stringify({ secret: stored.input.text }),
  });
  expect(answer).toMatch(/^503 /);
  await canaries.store.command('unlink', name);
});

test('what the API server says of a value that it refuses does not quote it', async () => {
  const refused = createCanary('refused', ...AWKWARD);
  const { client } = canaries.stage;
  const outcomes = await Promise.allSettled([
    client.create(configMaps, {
      metadata: { namespace: PROJECT, name: 'refused', labels: { a: refused.text } },
    }),
    client.create(workflowRuns, {
      metadata: { namespace: PROJECT, name: 'refused' },
      spec: { workflow: refused.text },
    }),
  ]);
  for (const outcome of outcomes) {
    const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
    expect(String(error)).toMatch(/ApiError: POST .* 422 .*Invalid value: …: /s);
    expect(found([refused], [{ name: 'the error', text: inspect(error, { depth: 9 }) }])).toEqual([]);
  }
});

/** As it is before anything ends, and after the crash of a runner in the middle of its work. */
test('none of it is found anywhere but where it belongs', async () => {
  const all: Canary[] = [
    ...Object.values(held),
    ...Object.values(sent),
    ...Object.values(stored),
    redisPassword,
    damaged,
    ...canaries.own,
  ];
  expect(all.length).toBeGreaterThanOrEqual(25);
  await pollUntil('the records', async () => (await recordedRuns()) > 30, SOON);
  const alive = await canaries.sources();
  process.kill(canaries.runner.pid, 'SIGUSR2');
  await pollUntil('the crash', () => !canaries.runner.isRunning(), SOON);
  expect(canaries.logs['errors of the runner']?.join('\n')).toContain('made to crash');
  const sources: Source[] = [
    ...alive,
    ...(await canaries.sources()),
    { name: 'answers', text: answers.join('\n') },
  ];
  const places = new Set(found(all, sources).map((place) => place.replace(/ as .*/, '')));
  // The run store lets go of what is recorded.
  for (const place of ['input in run store', 'key of an event in run store']) places.delete(place);
  expect([...places].toSorted()).toEqual(['input in workflowruns', 'key of an event in workflowruns']);
}, 60_000);

async function recordedRuns(): Promise<number> {
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/workflowruns`;
  const { items } = (await canaries.stage.client.raw('GET', path)) as { items: unknown[] };
  return items.length;
}

test('what is planted is found, wherever it is', async () => {
  const { stage, store, logs } = canaries;
  const value = Buffer.from(`x:${planted.text}`).toString('base64');
  await stage.client.create(configMaps, {
    metadata: { namespace: PROJECT, name: 'planted' },
    data: { value },
  });
  await store.command('hset', `wl:{${canaries.uid}}:planted`, 'a', encodeURIComponent(planted.text));
  logs['gateway']?.push(JSON.stringify({ msg: planted.text }));
  stage.log.info({ error: new Error('planted', { cause: { deep: [planted.text] } }) }, 'planted');
  const places = found([planted], await canaries.sources()).map((place) => place.replace(/ as .*/, ''));
  expect(new Set(places)).toEqual(
    new Set(['gateway', 'operator', 'configmaps', 'run store'].map((name) => `planted in ${name}`)),
  );
});
