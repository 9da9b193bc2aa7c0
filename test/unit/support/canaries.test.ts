import { expect, test } from 'vitest';
import { createCanary, findCanaries } from '../../support/rights/canaries.ts';

const canary = createCanary('password', `p"ä'\\ %+/=\n`, '&<>~');
const found = (text: string) => findCanaries([canary], [{ name: 'log', text }]);
const { text } = canary;

test.each<[string, string]>([
  ['as it is', `login ${text} refused`],
  ['cut off', `login ${text.slice(0, text.indexOf('cnry') + 12)}`],
  ['without its beginning', text.slice(text.indexOf('cnry') + 12)],
  ['as JSON', JSON.stringify({ message: text })],
  ['as JSON in JSON', JSON.stringify(JSON.stringify({ message: text }))],
  ['in a URL', `/search?key=${encodeURIComponent(text)}`],
  ['in a form', new URLSearchParams({ key: text }).toString()],
  ['as base64', Buffer.from(text).toString('base64')],
  ['as base64 of a login', Buffer.from(`\0ada\0${text}`).toString('base64')],
  ['as base64 of another login', Buffer.from(`ada:${text}`).toString('base64')],
  ['as base64 for URLs', Buffer.from(`x:${text}`).toString('base64url')],
  ['in hex', Buffer.from(text).toString('hex')],
  ['in upper-case hex', Buffer.from(text).toString('hex').toUpperCase()],
])('a canary is found %s', (_how, written) => {
  expect(found(written).join()).toContain('password in log');
});

test('nothing is found where nothing is', () => {
  expect(found('login refused: cnry')).toEqual([]);
  expect(findCanaries([createCanary('another')], [{ name: 'log', text }])).toEqual([]);
});
