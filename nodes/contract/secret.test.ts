import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { echoesOf, Secret } from './secret.ts';

const secret = new Secret('sk-very-secret');

test('a secret shows its text to reveal alone', () => {
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ deep: [secret] }),
    JSON.stringify(Object.entries(secret)),
  ];
  for (const text of shown) expect(text).not.toContain('sk-very');
  expect(secret.reveal()).toBe('sk-very-secret');
});

test('what a server repeats of a secret is masked', () => {
  expect(secret.redact('Incorrect API key: sk-very-secret.')).toBe('Incorrect API key: [secret].');
});

test('a secret too short to be told from a word is not looked for', () => {
  expect(new Secret('a').redact('a cat')).toBe('a cat');
});

const awkward = `p"ä'\\ %+/=&<\nS3cretMiddle&<>~`;
test.each<[string, (text: string) => string]>([
  ['JSON', JSON.stringify],
  ['JSON in JSON', (text) => JSON.stringify(JSON.stringify(text))],
  ['a URL', encodeURIComponent],
  ['a URL in a URL', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['a page', (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')],
  ['JSON of Go', (text) => JSON.stringify(text).replaceAll('<', '\\u003c').replaceAll('&', '\\u0026')],
  ['a login of SMTP', (text) => btoa(String.fromCharCode(...Buffer.from(`\0ada\0${text}`)))],
  ['a login of HTTP', (text) => Buffer.from(`adam:${text}`).toString('base64')],
  ['a token', (text) => Buffer.from(`{"k":"${text}"}`).toString('base64url')],
  ['base64 of a URL', (text) => btoa(`/?key=${encodeURIComponent(text)}`)],
  ['hex', (text) => Buffer.from(text).toString('hex')],
])('an echo in %s is masked', (_where, write) => {
  const message = `refused: ${write(awkward)}`;
  const masked = echoesOf(new Secret(awkward)).reduce((text, mask) => mask.redact(text), message);
  expect(masked).toContain('[secret]');
  const middle = Buffer.from('S3cretMiddle');
  for (const form of [middle.toString(), middle.toString('hex'), middle.toString('base64').slice(2, -3)])
    expect(masked).not.toContain(form);
});

test('masking leaves other text alone, and takes no time with long ones', () => {
  const masks = echoesOf(new Secret('aaaa-bbbb-cccc'));
  const masked = (message: string) => masks.reduce((text, mask) => mask.redact(text), message);
  expect(masked('aaaa, bbbb, dddd')).toBe('aaaa, bbbb, dddd');
  const long = 'aaaa-bbbb-'.repeat(100_000);
  const startedAt = performance.now();
  expect(masked(long)).toBe(long);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test('a text that begins like the secret in countless ways is looked through in no time, and an echo in it is masked', () => {
  const masks = echoesOf(new Secret('a!b!c!d!e!f!g!h'));
  const masked = (message: string) => masks.reduce((text, mask) => mask.redact(text), message);
  const hostile = 'abcdefg'.replaceAll(/./g, (letter) => letter.repeat(12)).repeat(200);
  const startedAt = performance.now();
  expect(masked(hostile)).toBe(hostile);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(masked(`${hostile}, a\\!b\\!c\\!d\\!e\\!f\\!g\\!h, a%21b%21c%21d%21e%21f%21g%21h.`)).toBe(
    `${hostile}, [secret], [secret].`,
  );
});
