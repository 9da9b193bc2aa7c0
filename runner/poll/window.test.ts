import { expect, test } from 'vitest';
import { endOfWindow } from './window.ts';

test.each([
  ['00:00:00', '00:00:57'],
  ['00:00:03', '00:00:57'],
  ['00:00:42', '00:00:57'],
  ['00:00:43', '00:01:57'],
  ['00:00:59', '00:01:57'],
])('a pod that begins at %s looks until %s, shortly before the next one begins', (begun, end) => {
  const at = (time: string) => Date.parse(`2026-03-02T${time}Z`);
  expect(new Date(endOfWindow(at(begun)))).toEqual(new Date(at(end)));
});
