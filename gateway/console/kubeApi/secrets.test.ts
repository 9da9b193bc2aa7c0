import { expect, test } from 'vitest';
import { checkRequest, type AllowedRequest } from './allowlist.ts';
import { redactedAnswer, redactedTarget } from './secrets.ts';

const PATH = '/api/v1/namespaces/shop/secrets';
const VALUE = Buffer.from('canary-4711').toString('base64');
const needed = (method: string, url: string): AllowedRequest => {
  const asked = checkRequest(method, url);
  if (asked === undefined) throw new Error(`${method} ${url} is not allowed`);
  return asked;
};
const secret = {
  kind: 'Secret',
  apiVersion: 'v1',
  type: 'Opaque',
  immutable: true,
  data: { password: VALUE, account: VALUE },
  stringData: { other: 'canary-4711' },
  metadata: {
    name: 'mail',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '7',
    labels: { app: 'mail' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"password":"${VALUE}"}}` },
    managedFields: [{ fieldsV1: { 'f:data': { 'f:password': {} } } }],
  },
};
const table = {
  kind: 'Table',
  metadata: { resourceVersion: '9', continue: 'next', remainingItemCount: 3 },
  columnDefinitions: [{ name: 'Name' }, { name: 'Type' }, { name: 'Data' }, { name: 'Age' }],
  rows: [{ cells: ['mail', 'Opaque', 2, '1d'], object: secret }],
};

test('a Secret is reduced to metadata without annotations, type and names of keys', () => {
  for (const [method, url] of [
    ['GET', `${PATH}/mail`],
    ['POST', PATH],
    ['PATCH', `${PATH}/mail`],
  ] as const) {
    const text = redactedAnswer(needed(method, url), { form: 'object', text: JSON.stringify(secret) });
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      immutable: true,
      keys: ['account', 'password'],
      metadata: {
        name: 'mail',
        namespace: 'shop',
        uid: 'u',
        resourceVersion: '7',
        labels: { app: 'mail' },
      },
    });
  }
});

test('a list of Secrets is reduced to names and types, as objects or as a table', () => {
  const asked = needed('GET', PATH);
  const metadata = { name: 'mail', namespace: 'shop' };
  const page = { resourceVersion: '9', continue: 'next', remainingItemCount: 3 };
  const text = JSON.stringify(table);
  expect(JSON.parse(redactedAnswer(asked, { form: 'object', text }))).toEqual({
    apiVersion: 'v1',
    kind: 'SecretList',
    metadata: page,
    items: [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' }],
  });
  expect(JSON.parse(redactedAnswer(asked, { form: 'table', text }))).toMatchObject({
    kind: 'Table',
    metadata: page,
    rows: [{ cells: ['mail', 'Opaque'], object: { metadata } }],
  });
  for (const form of ['object', 'table', 'metadata'] as const)
    expect(redactedAnswer(asked, { form, text })).not.toMatch(new RegExp(`${VALUE}|canary`));
});

test('a Status is unchanged, and an unexpected answer is not shown', () => {
  const status = '{"kind":"Status","code":403,"message":"no"}';
  expect(redactedAnswer(needed('GET', PATH), { form: 'object', text: status })).toBe(status);
  const list = JSON.stringify({ kind: 'SecretList', items: [secret] });
  expect(() => redactedAnswer(needed('GET', PATH), { form: 'object', text: list })).toThrow(
    'Unexpected answer',
  );
  expect(() => redactedAnswer(needed('GET', `${PATH}/mail`), { form: 'object', text: list })).toThrow(
    'Unexpected answer',
  );
});

const invalid = (details: object) =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'Invalid',
    message: `Secret "mail" is invalid: "${VALUE}"`,
    details,
    code: 422,
  });

test('the refusal of a patched Secret repeats nothing of it', () => {
  const causes = [
    { field: 'type', message: 'Invalid value' },
    { field: 'patch', message: `Invalid value: "${VALUE}"` },
  ];
  for (const text of [invalid({ causes }), invalid({})]) {
    const redacted = redactedAnswer(needed('PATCH', `${PATH}/mail`), { form: 'object', text });
    expect(redacted).not.toContain(VALUE);
    expect(JSON.parse(redacted)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Invalid',
      message: 'The patch does not make a Secret: a field is unknown, or its value is not of its type.',
      code: 422,
    });
  }
  const text = invalid({ causes: causes.slice(0, 1) });
  expect(redactedAnswer(needed('POST', PATH), { form: 'object', text })).toBe(text);
});

test.each([
  ['', '500'],
  ['?limit=20', '20'],
  ['?limit=5000', '500'],
  ['?limit=0', '500'],
  ['?limit=-1', '500'],
  ['?limit=all', '500'],
  ['?includeObject=Object', '500'],
])('a list of Secrets%s requests no objects, and %s of them', (query, limit) => {
  const { path, accept } = redactedTarget(needed('GET', `${PATH}${query}`));
  const sent = new URL(path, 'http://server').searchParams;
  expect([sent.get('includeObject'), sent.getAll('limit')]).toEqual(['None', [limit]]);
  expect(accept).toContain('as=Table');
});
