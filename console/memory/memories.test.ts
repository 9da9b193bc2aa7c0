import { expect, test } from 'vitest';
import { shortKey } from './memories.ts';

test.each([
  ['ada@example.com', 'ada@example.com'],
  [`chat-${'0123456789'.repeat(4)}`, 'chat-012345678901234…890123456789'],
])('the key %s is shown as %s', (key, shown) => {
  expect(shortKey(key)).toBe(shown);
});
