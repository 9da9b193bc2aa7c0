import { expect, test } from 'vitest';
import { untilText } from './untilText.ts';

const NOW = Date.parse('2026-05-01T08:00:00Z');

test.each([
  ['2026-05-01T08:00:01Z', /^\d+ \w+ 2026, \d\d:\d\d:\d\d, local time\.$/],
  ['2026-05-01T08:00:00Z', /2026, .*It has passed: the node does not wait\.$/],
  ['2026-05-01T09:00:00+02:00', /It has passed/],
])('the time %s is shown', (until, text) => {
  expect(untilText(until, NOW)).toMatch(text);
});

test.each(['', 'tomorrow', '2026-05-01', "{{ $('trigger').data_content.time }}", '2026-13-01T08:00:00Z'])(
  'of "%s" nothing is said',
  (until) => {
    expect(untilText(until, NOW)).toBeUndefined();
  },
);
