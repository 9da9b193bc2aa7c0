import { expect, test } from 'vitest';
import { preferredWait } from './prefer.ts';

test.each([
  ['wait=30', 30],
  ['respond-async, wait=5', 5],
  ['Wait = "7"; x=1', 7],
  ['wait=100000', 300],
])('"%s" waits for %i s', (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds);
});

test.each([
  undefined,
  '',
  'respond-async',
  'wait',
  'wait=',
  'wait=-1',
  'wait=0',
  'wait=1.5',
  'wait=abc',
  'await=5',
])('"%s" does not wait', (header) => {
  expect(preferredWait(header)).toBeUndefined();
});
