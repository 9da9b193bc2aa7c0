import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

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
