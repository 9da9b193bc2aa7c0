import { expect, test } from 'vitest';
import { foundDocs } from './search.ts';

const heading = (text: string) => ({ id: text.toLowerCase(), level: 2, text });
const docs = [
  { page: 'agents', title: 'Agents', headings: [heading('Tools'), heading('Memory')] },
  { page: 'triggers/mail', title: 'New mail', headings: [heading('Tools of mail servers')] },
  { page: 'code', title: 'Code', headings: Array.from({ length: 9 }, (_, at) => heading(`Part ${at}`)) },
];
const found = (text: string) => foundDocs(docs, text).map(({ page, headings }) => [page, headings.length]);

test.each([
  [
    'all pages without a text',
    '',
    [
      ['agents', 0],
      ['triggers/mail', 0],
      ['code', 0],
    ],
  ],
  [
    'headings',
    'tools',
    [
      ['agents', 1],
      ['triggers/mail', 1],
    ],
  ],
  ['all of several words', 'mail servers', [['triggers/mail', 1]]],
  ['titles first', 'mail', [['triggers/mail', 1]]],
  ['pages by their name', 'triggers', [['triggers/mail', 0]]],
  ['some of many headings', 'part', [['code', 6]]],
  ['nothing', 'invoices', []],
])('the search finds %s', (_what, text, pages) => {
  expect(found(text)).toEqual(pages);
});
