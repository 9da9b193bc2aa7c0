import { expect, test } from 'vitest';
import { isSender } from './sender.ts';

test.each([
  'orders@example.com',
  'Orders <orders@example.com>',
  '"Orders @ Example" <orders@example.com>',
  'Bestellungen <bestellung@müller.example>',
])('%s is a sender', (text) => {
  expect(isSender(text)).toBe(true);
});

test.each([
  'not an address',
  'orders',
  '@example.com',
  'orders@',
  'Orders <orders>',
  'a@b.example, c@d.example',
])('%s is no sender', (text) => {
  expect(isSender(text)).toBe(false);
});
