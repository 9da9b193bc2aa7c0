import { expect, test } from 'vitest';
import { cutBytes } from './events.ts';

test.each([
  { text: 'short', limit: 10, expected: 'short' },
  { text: 'exactly', limit: 7, expected: 'exactly' },
  { text: 'longer', limit: 4, expected: 'long' },
  { text: 'aä', limit: 2, expected: 'a' },
  { text: '€€', limit: 5, expected: '€' },
  { text: 'a😀', limit: 4, expected: 'a' },
])('"$text" cut to $limit bytes is "$expected"', ({ text, limit, expected }) => {
  expect(cutBytes(text, limit)).toBe(expected);
});
