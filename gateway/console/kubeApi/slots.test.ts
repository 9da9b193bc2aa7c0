import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

test('places are limited per token and in all, and free ones go to other tokens', () => {
  const slots = createSlots({ perToken: 2, total: 3 });
  const first = slots.enter('a');
  expect(slots.enter('a')).toBeDefined();
  expect(slots.enter('a')).toBeUndefined();
  expect(slots.enter('b')).toBeDefined();
  expect(slots.enter('b')).toBeUndefined();
  first?.();
  first?.();
  expect(slots.enter('b')).toBeDefined();
  expect(slots.enter('c')).toBeUndefined();
});

test('several places are taken together or not at all', () => {
  const slots = createSlots({ perToken: 4, total: 100 });
  const three = slots.enter('a', 3);
  expect(slots.enter('a', 2)).toBeUndefined();
  expect(slots.enter('a', 1)).toBeDefined();
  three?.();
  expect(slots.enter('a', 3)).toBeDefined();
});
