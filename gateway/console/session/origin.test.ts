import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { createOrigin, returnPath } from './origin.ts';

const { isFromConsole, isSecure } = createOrigin(undefined);
const host = 'console.example.com';
const OURS = { host, 'x-windlass-console': '1' };

test.each<[string, IncomingHttpHeaders, boolean]>([
  ['a page of ours says so', { ...OURS, 'sec-fetch-site': 'same-origin' }, true],
  ['without the header', { host, 'sec-fetch-site': 'same-origin' }, false],
  [
    'with another value of it',
    { ...OURS, 'x-windlass-console': 'true', 'sec-fetch-site': 'same-origin' },
    false,
  ],
  [
    'with the header twice',
    { ...OURS, 'x-windlass-console': '1, 1', 'sec-fetch-site': 'same-origin' },
    false,
  ],
  ['the person asked', { ...OURS, 'sec-fetch-site': 'none' }, true],
  ['a neighbouring host', { ...OURS, 'sec-fetch-site': 'same-site' }, false],
  ['another site', { ...OURS, 'sec-fetch-site': 'cross-site' }, false],
  [
    'another site that names our origin',
    { ...OURS, 'sec-fetch-site': 'cross-site', origin: `https://${host}` },
    false,
  ],
  ['our origin', { ...OURS, origin: `https://${host}` }, true],
  ['our origin by http', { ...OURS, origin: `http://${host}` }, true],
  [
    'our origin with the port that it has anyway',
    { ...OURS, host: `${host}:443`, origin: `https://${host}` },
    true,
  ],
  ['our host at another port', { ...OURS, origin: `http://${host}:8080` }, false],
  ['our host at its port', { ...OURS, host: '10.0.0.7:30081', origin: 'http://10.0.0.7:30081' }, true],
  ['another origin', { ...OURS, origin: 'https://evil.example' }, false],
  [
    'another origin with our page as the referrer',
    { ...OURS, origin: 'https://evil.example', referer: `https://${host}/console/` },
    false,
  ],
  ['an origin that is hidden', { ...OURS, origin: 'null' }, false],
  ['no origin and our page as the referrer', { ...OURS, referer: `http://${host}/console/p/shop` }, true],
  ['no origin and another page as the referrer', { ...OURS, referer: 'http://evil.example/console/' }, false],
  ['our name as a user of another host', { ...OURS, referer: `http://${host}@evil.example/` }, false],
  ['nothing at all', OURS, false],
  ['no host', { 'x-windlass-console': '1', origin: 'https://x' }, false],
  ['another scheme', { ...OURS, origin: `ftp://${host}` }, false],
])('%s', (_what, headers, expected) => {
  expect(isFromConsole(headers)).toBe(expected);
});

test.each<[IncomingHttpHeaders, boolean]>([
  [{}, false],
  [{ 'x-forwarded-proto': 'https' }, true],
  [{ 'x-forwarded-proto': 'HTTPS, http' }, true],
  [{ 'x-forwarded-proto': 'http', origin: 'https://x' }, false],
  [{ origin: 'https://x' }, true],
  [{ origin: 'http://x', referer: 'https://x/' }, false],
  [{ referer: 'https://x/' }, true],
])('%o uses https: %s', (headers, expected) => {
  expect(isSecure(headers)).toBe(expected);
});

const OWN = `https://${host}`;
const configured = createOrigin(OWN);

test.each<[string | undefined, boolean]>([
  [host, true],
  ['Console.Example.COM', true],
  [`${host}:443`, true],
  [`${host}:80`, false],
  [`${host}:8081`, false],
  [`${host}.evil.example`, false],
  [`evil.example`, false],
  ['127.0.0.1:8081', false],
  ['', false],
  [undefined, false],
])("with a configured URL the host %s is the console's: %s", (named, expected) => {
  expect(configured.isConsoleHost({ host: named })).toBe(expected);
});

test.each<[string, IncomingHttpHeaders, boolean]>([
  ['its own page', { ...OURS, 'sec-fetch-site': 'same-origin' }, true],
  ['its own page at another host', { ...OURS, host: 'evil.example', 'sec-fetch-site': 'same-origin' }, false],
  ['its own origin', { ...OURS, origin: OWN }, true],
  ['its own origin by http', { ...OURS, origin: `http://${host}` }, false],
  ['another page at its host', { ...OURS, origin: `${OWN}:8443` }, false],
  ['no origin at all', OURS, false],
])('with a configured URL the session counts for %s: %s', (_what, headers, expected) => {
  expect(configured.isFromConsole(headers)).toBe(expected);
});

test('with a configured URL no header is trusted', () => {
  const headers = { host: 'evil.example', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example' };
  expect([configured.baseURL(headers), configured.isSecure(headers)]).toEqual([OWN, true]);
  const plain = createOrigin('http://127.0.0.1:8081');
  expect([plain.baseURL(headers), plain.isSecure({ 'x-forwarded-proto': 'https' })]).toEqual([
    'http://127.0.0.1:8081',
    false,
  ]);
});

test.each<[unknown, string]>([
  ['/console/', '/console/'],
  ['/console/p/shop/workflows/orders?node=a#b', '/console/p/shop/workflows/orders?node=a#b'],
  ['/console/p/shop/../x', '/console/p/x'],
  ['/console', '/console/'],
  ['/', '/console/'],
  ['/kube/api', '/console/'],
  ['https://evil.example/console/', '/console/'],
  ['//evil.example/console/', '/console/'],
  ['/\\evil.example/console/', '/console/'],
  ['/console/../kube/api', '/console/'],
  ['/console/%2e%2e/kube/api', '/console/'],
  ['/console/..\\..\\evil', '/console/'],
  ['/console//evil.example', '/console//evil.example'],
  ['/console/p\r\nset-cookie: a=b', '/console/pset-cookie:%20a=b'],
  ['/console/oidc/start', '/console/'],
  ['/console/link/abc', '/console/'],
  ['javascript:alert(1)', '/console/'],
  [undefined, '/console/'],
  [['/console/a', '/console/b'], '/console/'],
  [`/console/${'x'.repeat(3_000)}`, '/console/'],
])('a sign-in to %o returns to %s', (wanted, page) => {
  expect(returnPath(wanted)).toBe(page);
});
