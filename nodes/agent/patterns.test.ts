/** Destinations that a hostile model sets within the pattern of the author. */
import { expect, test } from 'vitest';
import { toolsOf } from '../tools.ts';
import { matches } from './patterns.ts';
import { parametersOf, redirectsOf } from './tools.ts';

function isAdmitted(pattern: string, url: string): boolean {
  const [tool] = toolsOf({ tools: [{ skill: 'http_request', modelMaySet: { url: pattern } }] });
  if (!tool) throw new Error('there is no tool');
  const call = { id: '1', name: tool.name, arguments: JSON.stringify({ url }) };
  return 'parameters' in parametersOf(tool, {}, call);
}

const PREFIX = 'https://api.example.com/v1/*';

test.each([
  'https://api.example.com/v1/orders/7',
  'https://API.Example.COM/v1/orders',
  'https://ａpi.example.com/v1/orders',
  'https://api.example.com:443/v1/orders',
  'https://api.example.com/v1/a..b/...',
  'https://api.example.com/v1/a%2Fb/100%25',
  'https://api.example.com/v1/orders?path=../x%2f..%2fy',
  'https://api.example.com/v1//orders',
])('%s is within the prefix', (url) => {
  expect(isAdmitted(PREFIX, url)).toBe(true);
  expect(redirectsOf({ modelMaySet: { url: PREFIX } })(new URL(url), new URL(url))).toBe(true);
});

test.each(['https:/api.example.com/v1/orders', 'https:\\\\api.example.com\\v1\\orders'])(
  '%s is within the prefix, and is refused as a URL',
  (url) => {
    expect(matches(url, PREFIX)).toBe(true);
    expect(isAdmitted(PREFIX, url)).toBe(false);
  },
);

test.each([
  'https://api.example.com/v1/../admin',
  'https://api.example.com/v1/%2e%2e/admin',
  'https://api.example.com/v1/.%2E/admin',
  'https://api.example.com/v1/..\\admin',
  'https://api.example.com/v1\\..\\admin',
  'https://api.example.com/v1/..%2fadmin',
  'https://api.example.com/v1/x%2F..%2F..%2Fadmin',
  'https://api.example.com/v1/%2e%2e%2fadmin',
  'https://api.example.com/v1/..%5cadmin',
  'https://api.example.com/v1/x%5C..%5C..%5Cadmin',
  'https://api.example.com/v1/..%252fadmin',
  'https://api.example.com/v1/%252e%252e/admin',
  'https://api.example.com/v1/%25252e%25252e%25252fadmin',
  'https://api.example.com/v1/..;/admin',
  'https://api.example.com/v1/..%3bx/admin',
  'https://api.example.com/v1/..%3Bx=1%2fadmin',
  'https://api.example.com/v1',
  'https://api.example.com/v10/orders',
  'https://api.example.com/%76%31/orders',
  '//api.example.com/v1/orders',
  'https://evil.example//api.example.com/v1/orders',
  'https://user@api.example.com/v1/orders',
  'https://:pass@api.example.com/v1/orders',
  'https://api.example.com@evil.example/v1/orders',
  'https://api.example.com\\@evil.example/v1/orders',
  'https://evil.example\\@api.example.com/v1/orders',
  'https://evil.example#@api.example.com/v1/orders',
  'https://api.example.com:80/v1/orders',
  'https://api.example.com:8443/v1/orders',
  'http://api.example.com/v1/orders',
  'https://api.example.com./v1/orders',
  'https://аpi.example.com/v1/orders',
  'https://xn--pi-7kc.example.com/v1/orders',
  'https://api.example.com%2eevil.example/v1/orders',
  'https://api.example.com/v1/x\n/../../admin',
  'javascript:https://api.example.com/v1/orders',
])('%s leaves the prefix', (url) => {
  expect(isAdmitted(PREFIX, url)).toBe(false);
  const to = URL.canParse(url) ? new URL(url) : undefined;
  expect(to !== undefined && redirectsOf({ modelMaySet: { url: PREFIX } })(to, to)).toBe(false);
});

test.each([
  ['https://api.example.com/orders/*/status', 'https://api.example.com/orders/7/status', true],
  ['https://api.example.com/orders/*/status', 'https://api.example.com/orders/7/status#x', true],
  ['https://api.example.com/orders/*/status', 'https://api.example.com/orders/7/refund#/status', false],
  ['https://api.example.com/orders/*/status', 'https://api.example.com/orders/7/refund?x=/status', false],
  ['https://api.example.com/orders/*/status', 'https://api.example.com/orders/7/status?x=/status', false],
  ['https://api.example.com/find?a=*&b=*&c=1', 'https://api.example.com/find?a=x?&b=y&c=1', true],
  ['https://api.example.com/orders/*', 'https://api.example.com/orders/7?full=1', true],
])('the pattern %s and the URL %s: %s', (pattern, url, admitted) => {
  expect(isAdmitted(pattern, url)).toBe(admitted);
});

test.each([
  ['escapes', 'https://api.example.com/v1/*', `https://api.example.com/v1/%${'25'.repeat(15_000)}`, true],
  ['dots', '*@*.*.*.*.*.example', `a@${'.b'.repeat(15_000)}`, false],
])('a long value of %s is compared at once', (_what, pattern, value, does) => {
  const started = performance.now();
  expect(matches(value, pattern)).toBe(does);
  expect(performance.now() - started).toBeLessThan(1_000);
});
