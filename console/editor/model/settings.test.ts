import { expect, test } from 'vitest';
import { hasSetting } from './settings.ts';

test.each([
  ['timeout', true],
  ['history', true],
  ['history.ttl', true],
  ['budget.day.cost', true],
  ['displayName', false],
  ['time', false],
  ['', false],
])('whether the form has a setting for the place %j: %j', (place, has) => {
  expect(hasSetting(place)).toBe(has);
});
