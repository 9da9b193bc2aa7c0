import { expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { hostsFinding, usedHosts, withHosts } from './hosts.ts';

const named = (spec: CredentialSpec) => ({
  metadata: { namespace: 'shop', name: 'api', generation: 3 },
  spec,
});
const bearer = { tokenRef: { name: 'api', key: 'token' } };

test.each<[string, CredentialSpec, string | undefined, RegExp]>([
  [
    'of kind http without hosts',
    { http: { bearer } },
    'NoAllowedHosts',
    /No host may receive it.*"http":\{"allowedHosts":\["api.example.com"\]/,
  ],
  ['with an empty list', { http: { bearer, allowedHosts: [] } }, 'NoAllowedHosts', /No host/],
  [
    'with a page to check with',
    { http: { bearer, checkURL: 'http://api.shop.svc:8080/me' } },
    'NoAllowedHosts',
    /\["http:\/\/api.shop.svc:8080"\]/,
  ],
  [
    'with a page whose host ends the quotes',
    { http: { bearer, checkURL: "https://a'b/" } },
    'NoAllowedHosts',
    /\["api.example.com"\]/,
  ],
  [
    'of a custom provider',
    { oauth2: { clientID: 'a' } },
    'NoAllowedHosts',
    /triggers and other skills use it as before/,
  ],
  [
    'of a preset',
    { oauth2: { preset: 'microsoft', clientID: 'a' } },
    'HostsAllowed',
    /to graph.microsoft.com\. Entries without a scheme admit https only\.$/,
  ],
  [
    'that names hosts',
    { http: { bearer, allowedHosts: ['a.example', '*'] } },
    'HostsAllowed',
    /to a.example, \*\. Entries without a scheme admit https only\.$/,
  ],
  [
    'that names hosts with their schemes',
    { http: { bearer, allowedHosts: ['https://a.example', 'http://b.example:8080'] } },
    'HostsAllowed',
    /to https:\/\/a.example, http:\/\/b.example:8080\.$/,
  ],
  ['of another kind', { openai: { apiKeyRef: { name: 'llm', key: 'key' } } }, undefined, /^$/],
])('a credential %s says where it may be sent', (_what, spec, reason, message) => {
  const finding = hostsFinding(named(spec), []);
  expect([finding?.reason, finding?.status]).toEqual([
    reason,
    reason && (reason === 'HostsAllowed' ? 'True' : 'False'),
  ]);
  expect(finding?.message ?? '').toMatch(message);
});

const calling = (credential: string, url: string) => ({
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'call', skill: { name: 'http_request', credential, parameters: { url } } },
    ],
  },
});

test('the command names the constant hosts of the steps that use the credential, each once', () => {
  const users = [
    calling('api', 'https://orders.example.com/{{ nodes.trigger.text_content }}'),
    calling('api', 'https://orders.example.com/'),
    calling('api', 'http://api.shop.svc:8080'),
    calling('api', 'https://{{ nodes.trigger.text_content }}/'),
    calling('other', 'https://other.example.com/'),
  ];
  const used = usedHosts(users, 'api');
  expect(hostsFinding(named({ http: { bearer } }), used)?.message).toContain(
    '{"allowedHosts":["http://api.shop.svc:8080","orders.example.com"]}',
  );
});

test('a credential that becomes one of another kind loses the condition', () => {
  const now = new Date(0);
  const list = withHosts([], named({ http: { bearer } }), [], now);
  expect(list).toMatchObject([{ type: 'HostsAllowed', status: 'False', observedGeneration: 3 }]);
  expect(withHosts(list, named({ http: { bearer } }), [], now)).toBe(list);
  expect(withHosts(list, named({ openai: { apiKeyRef: { name: 'llm', key: 'key' } } }), [], now)).toEqual([]);
});
