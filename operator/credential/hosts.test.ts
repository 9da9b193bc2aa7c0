import { expect, test } from 'vitest';
import type { CredentialSpec } from '../../api/credential.ts';
import { hostsFinding, withHosts } from './hosts.ts';

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
    /to graph.microsoft.com\.$/,
  ],
  [
    'that names hosts',
    { http: { bearer, allowedHosts: ['a.example', '*'] } },
    'HostsAllowed',
    /to a.example, \*\.$/,
  ],
  ['of another kind', { openai: { apiKeyRef: { name: 'llm', key: 'key' } } }, undefined, /^$/],
])('a credential %s says where it may be sent', (_what, spec, reason, message) => {
  const finding = hostsFinding(named(spec));
  expect([finding?.reason, finding?.status]).toEqual([
    reason,
    reason && (reason === 'HostsAllowed' ? 'True' : 'False'),
  ]);
  expect(finding?.message ?? '').toMatch(message);
});

test('a credential that becomes one of another kind loses the condition', () => {
  const now = new Date(0);
  const list = withHosts([], named({ http: { bearer } }), now);
  expect(list).toMatchObject([{ type: 'HostsAllowed', status: 'False', observedGeneration: 3 }]);
  expect(withHosts(list, named({ http: { bearer } }), now)).toBe(list);
  expect(withHosts(list, named({ openai: { apiKeyRef: { name: 'llm', key: 'key' } } }), now)).toEqual([]);
});
