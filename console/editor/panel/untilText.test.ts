import { expect, test } from 'vitest';
import { untilText } from './untilText.ts';

const NOW = Date.parse('2026-05-01T08:00:00Z');

test.each([
  ['2026-05-01T08:00:01Z', /^\d+ \w+ 2026, \d\d:\d\d:\d\d, local time\.$/, false],
  ['2026-05-01T08:00:00Z', /2026, .*This time has passed: the node does not wait\.$/, true],
  ['2026-05-01T09:00:00+02:00', /has passed/, true],
])('the time %s is shown', (until, text, isPast) => {
  expect(untilText(until, NOW)).toEqual({ text: expect.stringMatching(text), isPast });
});

test.each(['', 'tomorrow', '2026-05-01', "{{ $('trigger').data_content.time }}", '2026-13-01T08:00:00Z'])(
  'of "%s" nothing is said',
  (until) => {
    expect(untilText(until, NOW)).toBeUndefined();
  },
);
