import { expect, test } from 'vitest';
import type { CredentialSpec } from '../api/credential.ts';
import { Secret } from '../nodes/contract/secret.ts';
import type { StepFields } from '../nodes/step.ts';
import { destinationOf, isHostDenied, reportingUses, type Attempted } from './credentialUse.ts';

const ATTEMPTED: Attempted = { run: 'r', workflow: 'orders', node: 'call', attempt: 2, fields: {} };
const http: CredentialSpec = { http: { bearer: { tokenRef: { name: 'a', key: 'b' } } } };

test.each<[string, CredentialSpec, StepFields, string | undefined]>([
  [
    'of a mail server',
    { smtp: { host: 'mail.example.com', from: 'a@example.com' } },
    {},
    'mail.example.com:587',
  ],
  [
    'of a mail server at an address of IPv6',
    { smtp: { host: '::1', tls: 'TLS', from: 'a@example.com' } },
    {},
    '[::1]:465',
  ],
  [
    'of a model',
    { openai: { baseURL: 'http://llm.svc/v1', apiKeyRef: { name: 'a', key: 'b' } } },
    {},
    'llm.svc:80',
  ],
  [
    'of a URL without a port',
    http,
    { parameters: { url: 'https://API.example.com/a' } },
    'api.example.com:443',
  ],
  [
    'of the URL that a request goes to',
    http,
    { parameters: { url: 'https://user:secret@api.example.com:8443/a?key=secret#b' } },
    'api.example.com:8443',
  ],
  ['of no URL', http, { parameters: { url: 'no url' } }, undefined],
  ['of what is no text', http, { parameters: { url: { host: 'a' } } }, undefined],
  ['of a request without parameters', http, {}, undefined],
])(
  'the host %s is known with its port, and nothing else of where a credential is sent',
  (_what, spec, fields, host) => {
    expect(destinationOf(spec, fields)).toBe(host);
  },
);

test.each<[string, CredentialSpec, string, boolean]>([
  ['without allowed hosts', http, 'https://api.example.com/', true],
  [
    'at another host',
    { http: { ...http.http, allowedHosts: ['a.example.com'] } },
    'https://b.example.com/',
    true,
  ],
  [
    'at a host that it allows',
    { http: { ...http.http, allowedHosts: ['a.example.com'] } },
    'https://a.example.com/',
    false,
  ],
  [
    'of another kind',
    { smtp: { host: 'm.example.com', from: 'a@example.com' } },
    'https://a.example.com/',
    false,
  ],
])('whether a use of a credential %s is recorded as denied', (_what, spec, url, isDenied) => {
  expect(isHostDenied(spec, { parameters: { url } })).toBe(isDenied);
});

test('an attempt reports each credential once, however often it uses it', async () => {
  const told: string[] = [];
  const source = {
    get: async (name: string) => ({ name, spec: http, secret: () => new Secret('x') }),
    fresh: () => Promise.reject(new Error('not asked')),
    hasChanged: async () => false,
  };
  const telling = reportingUses(source, ATTEMPTED, ({ node, attempt }, { name }) => {
    told.push(`${node} ${attempt} ${name}`);
  });
  for (const name of ['one', 'one', 'two']) await telling.get(name);
  expect(told).toEqual(['call 2 one', 'call 2 two']);
});
