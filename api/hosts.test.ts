import { expect, test } from 'vitest';
import type { CredentialSpec } from './credential.ts';
import { admitsURL, allowedHostsOf, constantEntry, hostEntryFor, hostEntryProblem } from './hosts.ts';
import { allowedHosts } from './hostsField.ts';

const MATCHES: [entry: string, url: string, isAdmitted: boolean][] = [
  // Without a scheme: https alone.
  ['api.example.com', 'https://api.example.com/x', true],
  ['api.example.com', 'http://api.example.com/x', false],
  ['https://api.example.com', 'https://api.example.com/', true],
  ['http://api.example.com', 'http://api.example.com/', true],
  ['http://api.example.com', 'https://api.example.com/', false],
  // Without a port: the one that the scheme has by default.
  ['api.example.com', 'https://api.example.com:443/', true],
  ['api.example.com', 'https://api.example.com:8443/', false],
  ['api.example.com:443', 'https://api.example.com/', true],
  ['api.example.com:8443', 'https://api.example.com:8443/', true],
  ['api.example.com:8443', 'https://api.example.com/', false],
  ['api.example.com:8443', 'https://api.example.com:8444/', false],
  ['http://api.example.com:8080', 'http://api.example.com:8080/', true],
  ['http://api.example.com', 'http://api.example.com:8080/', false],
  ['http://api.example.com:443', 'https://api.example.com/', false],
  // One host, however it is written.
  ['API.Example.com', 'https://api.example.COM/', true],
  ['api.example.com.', 'https://api.example.com/', true],
  ['api.example.com', 'https://api.example.com./', true],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['xn--bcher-kva.example', 'https://BÜCHER.example/', true],
  ['127.0.0.1', 'https://0x7f.1/', true],
  ['[::1]', 'https://[0:0:0:0:0:0:0:1]/', true],
  ['http://[2001:DB8::1]:8080', 'http://[2001:db8::1]:8080/', true],
  ['[::1]', 'https://[::2]/', false],
  // Not another one.
  ['example.com', 'https://api.example.com/', false],
  ['example.com', 'https://example.com.evil.example/', false],
  ['example.com', 'https://evilexample.com/', false],
  ['api.example.com', 'https://evil.example/?api.example.com', false],
  // What is below a name, and never an address.
  ['*.example.com', 'https://a.example.com/', true],
  ['*.example.com', 'https://a.b.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['*.example.com', 'https://evilexample.com/', false],
  ['*.example.com', 'http://a.example.com/', false],
  ['*.example.com:8443', 'https://a.example.com:8443/', true],
  ['http://*.example.com', 'http://a.example.com/', true],
  ['*.0.0.1', 'https://127.0.0.1/', false],
  // Every host must be written, and plain HTTP beside it.
  ['*', 'https://evil.example/', true],
  ['*', 'https://10.0.0.1:8443/', true],
  ['*', 'http://evil.example/', false],
  ['http://*', 'http://evil.example:8080/', true],
  ['http://*', 'https://evil.example/', false],
];

test.each(MATCHES)('the entry %s and the URL %s: %s', (entry, url, isAdmitted) => {
  expect(allowedHosts('').safeParse([entry]).success).toBe(true);
  expect(admitsURL([entry], new URL(url))).toBe(isAdmitted);
});

test.each([
  '',
  '**',
  '*example.com',
  'a.*.example.com',
  'ftp://example.com',
  'https://',
  'example.com/path',
  'https://example.com/',
  'user@example.com',
  'example.com?a',
  'example.com#a',
  'example.com:',
  'example.com:port',
  'a b',
  '::1',
  '[::1',
  'example.com\\evil.example',
  'ex%61mple.com',
  'a.example,b.example',
  '*..',
  '*.',
  '.',
  '..',
  'a..example',
  '.example.com',
])('%j is no entry, and admits nothing', (entry) => {
  expect(allowedHosts('').safeParse([entry]).success).toBe(false);
  for (const url of ['https://example.com/', 'https://evil.example/', 'https://[::1]/'])
    expect(admitsURL([entry], new URL(url))).toBe(false);
});

test.each([
  ['https://api.example.com/v1', /must not have a path or query: write api.example.com,/],
  ['api.example.com/', /must not have a path or query/],
  ['api.example.com?key=1', /must not have a path or query/],
  ['ftp://api.example.com', /must be a host name or IP address, with an optional scheme and port/],
  ['a.example, b.example', /must be a host name or IP address/],
  ['a.*.example.com', /\*\.example\.com/],
])('what is wrong with the entry %s is said in words', (entry, message) => {
  expect(hostEntryProblem(entry)).toMatch(message);
  const { error } = allowedHosts('').safeParse([entry]);
  expect(error?.issues).toMatchObject([{ path: [0], message: hostEntryProblem(entry) }]);
});

test('an entry whose port or name no URL can have admits nothing', () => {
  for (const entry of ['example.com:70000', '[1.2]', '1.2.3.4.5', '*.。'])
    expect(admitsURL([entry], new URL('https://example.com/'))).toBe(false);
});

test.each([
  ['https://api.example.com/me?x', 'api.example.com'],
  ['https://api.example.com:8443/', 'api.example.com:8443'],
  ['http://api.shop.svc:8080/', 'http://api.shop.svc:8080'],
  ['http://[::1]/', 'http://[::1]'],
])('the entry that admits %s alone is %s', (url, entry) => {
  expect(hostEntryFor(new URL(url))).toBe(entry);
  expect(admitsURL([entry], new URL(url))).toBe(true);
});

test.each<[unknown, string | undefined]>([
  ['https://api.example.com/orders/{{ nodes.trigger.text_content }}', 'api.example.com'],
  ['https://api.example.com', 'api.example.com'],
  ['http://api.shop.svc:8080?id={{ a }}', 'http://api.shop.svc:8080'],
  ['https://{{ a }}.example.com/', undefined],
  ['https://api.example.com{{ a }}', undefined],
  ['https://api.example.com:{{ a }}/', undefined],
  ['{{ a }}', undefined],
  ["https://a'b/", undefined],
  [undefined, undefined],
])('of the url %j the entry for its constant host is %j', (url, entry) => {
  expect(constantEntry(url)).toBe(entry);
});

const bearer = { tokenRef: { name: 'api', key: 'token' } };
const own = { clientID: 'client' };
const hostsOf = (spec: CredentialSpec) => allowedHostsOf(spec);

test('hosts that are not named are none, but for the API hosts of a preset', () => {
  expect(hostsOf({ http: { bearer } })).toEqual([]);
  expect(hostsOf({ oauth2: own })).toEqual([]);
  expect(hostsOf({ oauth2: { ...own, preset: 'custom' } })).toEqual([]);
  expect(hostsOf({ oauth2: { ...own, preset: 'google' } })).toContain('gmail.googleapis.com');
  expect(hostsOf({ oauth2: { ...own, preset: 'microsoft' } })).toEqual(['graph.microsoft.com']);
});

test('hosts that are named take the place of those of the preset, also an empty list', () => {
  const named = ['api.example.com'];
  expect(hostsOf({ http: { bearer, allowedHosts: named } })).toEqual(named);
  expect(hostsOf({ oauth2: { ...own, preset: 'google', allowedHosts: named } })).toEqual(named);
  expect(hostsOf({ oauth2: { ...own, preset: 'google', allowedHosts: [] } })).toEqual([]);
});

test('the hosts of presets are complete names of hosts on which others cannot publish', () => {
  for (const preset of ['google', 'microsoft'] as const)
    for (const host of hostsOf({ oauth2: { ...own, preset } })) {
      expect(host).toMatch(/^[a-z]+\.(googleapis|microsoft)\.com$/);
      expect(host).not.toMatch(/^storage\./);
    }
});
