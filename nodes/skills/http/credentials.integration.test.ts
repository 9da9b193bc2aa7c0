import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { hostEntryFor } from '../../../api/hosts.ts';
import type { StepError } from '../../../api/reasons.ts';
import {
  answering,
  startHttpTarget,
  startRawServer,
  type Handler,
} from '../../../test/support/nodes/httpTarget.ts';
import { sendJson } from '../../../test/support/network/listen.ts';
import { stepContext } from '../../../test/support/nodes/stepContext.ts';
import { findSkill } from '../../register.ts';

const target = await startHttpTarget();
afterAll(() => target.close());
beforeEach(() => target.answer());

const ref = (key: string) => ({ name: 'api', key });
const bearer: CredentialSpec = { http: { bearer: { tokenRef: ref('token') } } };
const json = { 'content-type': 'application/json' };

test.each<[string, CredentialSpec['http'], Record<string, string>, object]>([
  [
    'basic',
    { basic: { username: 'ada', passwordRef: ref('p') } },
    { p: 'pä:ss' },
    { headers: { authorization: `Basic ${Buffer.from('ada:pä:ss').toString('base64')}` } },
  ],
  [
    'bearer',
    { bearer: { tokenRef: ref('t') } },
    { t: 'tok-1\n' },
    { headers: { authorization: 'Bearer tok-1' } },
  ],
  [
    'a header',
    { header: { name: 'X-Api-Key', valueRef: ref('k') } },
    { k: 'key-1' },
    { headers: { 'x-api-key': 'key-1' } },
  ],
  [
    'a parameter of the query',
    { query: { name: 'key', valueRef: ref('k') } },
    { k: 'a b&c' },
    { url: '/?key=a%20b%26c' },
  ],
])('a credential is sent as %s', async (_kind, http, secrets, sent) => {
  await target.call({}, { credential: { http }, secrets });
  expect(target.seen).toMatchObject([sent]);
});

const oauth2 = { preset: 'google', clientID: 'client' } as const;

test('an account that somebody connected is sent as its access token, never as the secret of the client', async () => {
  const connected = {
    ...oauth2,
    clientSecretRef: ref('client-secret'),
    allowedHosts: [hostEntryFor(new URL(target.url))],
  };
  const secrets = { credential: 'access-1', 'client-secret': 'not-for-others' };
  await target.call({}, { credential: { oauth2: connected }, secrets });
  expect(target.seen).toMatchObject([
    { headers: { authorization: expect.stringMatching(/^Bearer /) as string } },
  ]);
  expect(JSON.stringify(target.seen)).not.toContain('not-for-others');
});

test.each<[string, CredentialSpec, Record<string, string>, object, RegExp]>([
  ['is of another kind', { openai: { apiKeyRef: ref('k') } }, {}, {}, /is of kind openai/],
  [
    'has a line break in the middle',
    bearer,
    { token: 'a\r\nX: y' },
    {},
    /characters that HTTP headers cannot hold/,
  ],
  [
    'names a header of the connection',
    { http: { header: { name: 'Transfer-Encoding', valueRef: ref('k') } } },
    {},
    {},
    /is set by the connection/,
  ],
  [
    'has a colon in the user name',
    { http: { basic: { username: 'a:b', passwordRef: ref('p') } } },
    {},
    {},
    /colon/,
  ],
  [
    'says what the step says',
    bearer,
    {},
    { headers: { Authorization: 'Bearer mine' } },
    /authorization is set by the credential/,
  ],
  [
    'adds what the URL has',
    { http: { query: { name: 'key', valueRef: ref('k') } } },
    {},
    { url: `${target.url}/?key=1` },
    /key is set by the credential/,
  ],
])(
  'a credential that %s is refused before anything is sent',
  async (_what, credential, secrets, parameters, message) => {
    const error = await target.failure(parameters, { credential, secrets });
    expect(error).toMatchObject({ reason: 'InvalidParameters', message: expect.stringMatching(message) });
    expect(error.message).not.toMatch(/test-secret|X: y|Bearer mine/);
    expect(target.seen).toEqual([]);
  },
);

const local = { http: { ...bearer.http, allowedHosts: [] as string[] } };
const { port } = new URL(target.url);

test.each<[string, CredentialSpec, string, string]>([
  ['has no list of hosts', bearer, target.url, 'has no allowed hosts'],
  ['has an empty list', local, target.url, 'has no allowed hosts'],
  [
    'is of a custom provider and has no list',
    { oauth2: { clientID: 'client' } },
    target.url,
    'oauth2.allowedHosts',
  ],
  ['is of Google, for another host', { oauth2 }, target.url, 'may not be sent to this host'],
  ['admits the host by https', admitting('127.0.0.1', `127.0.0.1:${port}`), target.url, 'may not be sent'],
  ['admits the host at the default port', admitting('http://127.0.0.1'), target.url, 'may not be sent'],
  [
    'admits the host at another port',
    admitting(`http://127.0.0.1:1${port}`.slice(0, -1)),
    target.url,
    'may not be',
  ],
  ['admits every host by https', admitting('*'), target.url, 'may not be sent'],
  ['admits another host', admitting(`http://localhost:${port}`), target.url, 'may not be sent'],
])('a credential that %s is not sent, and the error says what to add', async (_what, spec, url, message) => {
  const context = stepContext(spec);
  const call = findSkill('http_request')!.execute({ url: `${url}/` }, context, 'api');
  const remedy = `add "${target.url}" to its spec.${spec.oauth2 ? 'oauth2' : 'http'}.allowedHosts`;
  await expect(call).rejects.toMatchObject({
    reason: 'InvalidParameters',
    message: expect.stringContaining(message) as string,
  });
  await expect(call).rejects.toThrow(remedy);
  const { message: said } = (await call.catch((error: unknown) => error)) as StepError;
  expect(said.split('127.0.0.1')).toHaveLength(2);
  expect(target.seen).toEqual([]);
});

function admitting(...allowedHosts: string[]): CredentialSpec {
  return { http: { bearer: { tokenRef: ref('token') }, allowedHosts } };
}

test('a credential is sent to the host that an entry names with scheme and port, however the URL spells it', async () => {
  await target.call({}, { credential: admitting(target.url) });
  const loud = target.url.replace('127.0.0.1', 'LOCALHOST');
  await target.call({ url: loud }, { credential: admitting(`http://localhost:${port}`) });
  await target.call({}, { credential: admitting('http://*') });
  expect(target.seen.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill('Bearer test-secret'),
  );
});

const SECRET = 's3cr3t/"va lue"+=&';
const forms = [
  SECRET,
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64url'),
  encodeURIComponent(SECRET),
  new URLSearchParams({ k: SECRET }).toString().slice(2),
  JSON.stringify(SECRET).slice(1, -1),
  Buffer.from(`ada:${SECRET}`).toString('base64'),
];
const kinds: [string, CredentialSpec['http']][] = [
  ['basic', { basic: { username: 'ada', passwordRef: ref('k') } }],
  ['bearer', { bearer: { tokenRef: ref('k') } }],
  ['header', { header: { name: 'X-Key', valueRef: ref('k') } }],
  ['query', { query: { name: 'key', valueRef: ref('k') } }],
];

/** Everything that a step leaves behind or says: its output, or its error with all that hangs on it. */
async function tellsAll(parameters: object, http: CredentialSpec['http']): Promise<string> {
  const logged: unknown[] = [];
  const log = {
    info: (...line: unknown[]) => logged.push(line),
    warn: (...line: unknown[]) => logged.push(line),
  };
  const options = { credential: { http }, secrets: { k: SECRET }, log };
  const told: unknown = await target
    .call(parameters, options)
    .catch((error: StepError) => [error.message, error.stack, error.cause, Object.entries(error)]);
  return JSON.stringify([told, logged]).replaceAll('\\\\', '\\').replaceAll('\\"', '"');
}

test.each(kinds)(
  'a secret that is sent as %s comes back in no output and no message',
  async (_kind, http) => {
    const echo = forms.slice(0, -1).join(' ');
    const encoded = { 'x-echo': encodeURIComponent(SECRET), location: `/?key=${encodeURIComponent(SECRET)}` };
    const unicode = SECRET.split('')
      .map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
    const handlers: Handler[] = [
      ({ headers, url }, response) => sendJson(response, 200, { headers, url, [SECRET]: echo }, encoded),
      answering(200, { ...json, ...encoded }, `{"a": "${JSON.stringify(SECRET).slice(1, -1)}"}`),
      answering(200, { 'content-type': 'text/plain' }, echo),
      answering(400, { 'content-type': 'text/plain', ...encoded }, echo),
      answering(500, json, JSON.stringify({ error: echo })),
      answering(401, { 'content-encoding': 'gzip' }, gzipSync(echo)),
      answering(302, encoded, echo),
      answering(302, { location: `http://a:${encodeURIComponent(SECRET)}@a.example/` }),
      answering(302, { location: `http://127.0.0.1:1/${encodeURIComponent(SECRET)}` }),
      answering(302, { location: `http://10.0.0.1/${encodeURIComponent(SECRET)}` }),
      (request) => request.socket.destroy(),
    ];
    for (const next of handlers) {
      target.answer(next);
      const told = await tellsAll({ followRedirects: 2 }, http);
      expect(target.seen).not.toEqual([]);
      for (const form of forms) expect(told).not.toContain(form);
    }
    target.answer(answering(200, json, `{"a":"${unicode}"}`));
    const { output } = await target.call({}, { credential: { http }, secrets: { k: SECRET } });
    expect(output.data_content).toMatchObject({ body: { a: '[secret]' } });
    for (const url of ['http://127.0.0.1:1/', 'http://10.0.0.1/', 'https://127.0.0.1:1/']) {
      const told = await tellsAll({ url }, http);
      for (const form of forms) expect(told).not.toContain(form);
    }
    const raw = await startRawServer('HTTP/1.1 200 OK\r\nbad header\r\n\r\n');
    for (const form of forms) expect(await tellsAll({ url: raw.url }, http)).not.toContain(form);
    raw.close();
  },
);
