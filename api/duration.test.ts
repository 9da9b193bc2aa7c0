import { expect, test } from 'vitest';
import { boundedDuration, durationProblem, parseDuration } from './duration.ts';

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
    expect(() => parseDuration(text)).toThrow('is not a duration: write it like 30s');
  },
);

test.each([
  ['1s', 1_000],
  ['0s', 1_000],
  ['10m', 300_000],
  ['90s', 90_000],
])('%s counts as %d ms where 1s to 5m are the bounds', (text, milliseconds) => {
  expect(boundedDuration(text, { least: '1s', most: '5m' })).toBe(milliseconds);
});

test.each(['0s', '10m', '5m1ms', 'soon'])(
  'the problem of %s names the bounds and the form of a duration',
  (text) => {
    expect(durationProblem(text, { least: '1s', most: '5m' })).toBe(
      'must be a duration from 1s to 5m, written as a number and a unit (ms, s, m, h, d), such as 30s, 5m or 1h30m',
    );
  },
);

test.each(['1s', '5m', '4m60s', '1.5s'])('%s is within 1s to 5m', (text) => {
  expect(durationProblem(text, { least: '1s', most: '5m' })).toBeUndefined();
});

test('a field may admit zero beside its bounds', () => {
  const bounds = { least: '30s', most: '30d', hasZero: true } as const;
  expect(['0s', '0m', '30s'].map((text) => durationProblem(text, bounds))).toEqual(Array(3).fill(undefined));
  expect(durationProblem('29s', bounds)).toContain('must be 0s, or a duration from 30s to 30d');
  expect(['0s', '1s'].map((text) => boundedDuration(text, bounds))).toEqual([0, 30_000]);
});
