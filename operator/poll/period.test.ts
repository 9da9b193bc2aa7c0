import { expect, test } from 'vitest';
import { cronOf, arePolledOften, periodOf } from './period.ts';

test.each([
  [[5], 1],
  [[60], 1],
  [[90], 1],
  [[299], 4],
  [[300], 5],
  [[420], 6],
  [[900], 15],
  [[3_599], 30],
  [[3_600], 60],
  [[18_000], 240],
  [[86_400], 1_440],
  [[3_600, 900, 86_400], 15],
])('poll pods for intervals of %j seconds come every %d minutes', (intervals, minutes) => {
  expect(periodOf(intervals)).toBe(minutes);
});

test.each([
  [1, /^\* \* \* \* \*$/],
  [5, /^[0-4]-59\/5 \* \* \* \*$/],
  [30, /^([0-9]|[12][0-9])-59\/30 \* \* \* \*$/],
  [60, /^([0-9]|[1-5][0-9]) \* \* \* \*$/],
  [360, /^([0-9]|[1-5][0-9]) [0-5]-23\/6 \* \* \*$/],
  [1_440, /^([0-9]|[1-5][0-9]) ([0-9]|1[0-9]|2[0-3]) \* \* \*$/],
])('a period of %d minutes is a cron expression', (period, form) => {
  for (let n = 0; n < 50; n += 1) expect(cronOf(period, `project-${n}`)).toMatch(form);
});

test('projects with the same period have their pods at different minutes, always the same ones', () => {
  const expressions = Array.from({ length: 1_000 }, (_, n) => cronOf(15, `project-${n}`));
  const counts = [...Map.groupBy(expressions, (each) => each).values()].map((same) => same.length);
  expect(counts).toHaveLength(15);
  expect(Math.max(...counts)).toBeLessThan(150);
  expect(cronOf(15, 'project-7')).toBe(expressions[7]);
});

test('runners stay awake for an interval below five minutes', () => {
  expect([[], [300, 86_400], [300, 299]].map(arePolledOften)).toEqual([false, false, true]);
});
