import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['168h', 604_800_000],
  ['7d', 604_800_000],
  ['0s', 0],
])('%s is %d ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each(['', '10', 's', '10 s', '-1s', '1w', '1h 30m', 'PT1H'])(
  '"%s" is refused with an example of how to write it',
  (text) => {
    expect(() => parseDuration(text)).toThrow('is no duration; write it like 30s');
  },
);
