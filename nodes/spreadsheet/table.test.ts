import { expect, test } from 'vitest';
import { parseRange, rangeOf, spreadsheetIn } from './table.ts';

const ID = '1AbC-_dEf';

test.each<[string, string | undefined]>([
  [ID, undefined],
  [` ${ID}\n`, undefined],
  [`https://docs.google.com/spreadsheets/d/${ID}`, undefined],
  [`https://docs.google.com/spreadsheets/d/${ID}/edit?usp=sharing`, undefined],
  [`https://docs.google.com/spreadsheets/d/${ID}/edit#gid=0`, '0'],
  [`https://docs.google.com/spreadsheets/d/${ID}/edit?gid=77#gid=77`, '77'],
  [`https://docs.google.com/spreadsheets/u/1/d/${ID}/htmlview?gid=77&pru=x`, '77'],
  [`https://docs.google.com/a/example.com/spreadsheets/d/${ID}/edit`, undefined],
  [`docs.google.com/spreadsheets/d/${ID}/edit`, undefined],
  [`https://drive.google.com/file/d/${ID}/view`, undefined],
  [`https://drive.google.com/open?usp=drive_link&id=${ID}`, undefined],
])('a spreadsheet is named by %o', (text, gid) => {
  expect(spreadsheetIn(text)).toEqual({ id: ID, ...(gid !== undefined && { gid }) });
});

test.each([
  '',
  '../files',
  'https://example.com/',
  // What is published has an id that the APIs do not know.
  'https://docs.google.com/spreadsheets/d/e/2PACX-1vAbC/pubhtml?gid=0',
  'https://docs.google.com/document/d/1AbC/edit',
  `https://docs.google.com/spreadsheets/d/${'x'.repeat(201)}/edit`,
  'x'.repeat(201),
  '1AbC/values/A1',
])('no spreadsheet is named by %o', (text) => {
  expect(spreadsheetIn(text)).toBeUndefined();
});

test.each<[string, string | undefined]>([
  ['Orders!A1:F', "'Orders'!A1"],
  ["'Bo''s orders'!A1:F", "'Bo''s orders'!A1"],
  ["Bo's!A1:F", undefined],
  ['Orders!A1!A1:F', undefined],
  ["'x'!A1:B2'!A1:F", undefined],
  ["x'!A1&'y!A1:F", undefined],
  ['Orders!A1:F?alt=media', undefined],
])('the range %o names cells of one sheet, or none', (text, expected) => {
  const { title } = parseRange(text) ?? {};
  expect(title && rangeOf(title, 'A1')).toBe(expected);
});
