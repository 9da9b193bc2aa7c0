import { expect, test } from 'vitest';
import { isDateFormat } from './dateFormat.ts';

test.each([
  'm/d/yyyy',
  'yyyy-mm-dd',
  'dd.mm.yyyy hh:mm;@',
  'h:mm AM/PM',
  '[h]:mm:ss',
  '[mm]:ss',
  'mm:ss.0',
  '[$-F800]dddd, mmmm dd, yyyy',
  '[$-409]mmm-yy;@',
  '[Red]d-mmm',
  '"on "d mmmm',
  'yyyy"年"m"月"d"日"',
])('%s shows dates, times or durations', (format) => {
  expect(isDateFormat(format)).toBe(true);
});

test.each([
  'General',
  '0',
  '#,##0.00',
  '0.00E+00',
  '##0.0e-0',
  '0%',
  '# ?/?',
  '@',
  '$#,##0.00;[Red]-$#,##0.00',
  '_-* #,##0.00 [$€-407]_-;-* #,##0.00 [$€-407]_-',
  '0 "days"',
  '0\\d',
  '0_d',
  '[>=1000]0,"k";0',
  '[DarkRed]0',
  '"unended d',
  '',
  null,
  7,
])('%s shows none', (format) => {
  expect(isDateFormat(format)).toBe(false);
});
