import { expect, test } from 'vitest';
import { linkText } from './linkText.ts';

const docs = [
  { page: 'agents', title: 'Agents', headings: [{ id: 'memory', level: 2, text: 'Memory of an agent' }] },
];

test.each([
  ['the name of a file', { page: 'agents' }, ['agents.md'], ['Agents']],
  [
    'the name of a file with a heading',
    { page: 'agents', hash: 'memory' },
    ['agents.md'],
    ['Memory of an agent'],
  ],
  ['an unknown heading', { page: 'agents', hash: 'x' }, ['agents.md'], ['Agents']],
  ['an unknown page', { page: 'x' }, ['x.md'], ['x.md']],
  ['words', { page: 'agents' }, ['all about agents'], ['all about agents']],
  ['several parts', { page: 'agents' }, ['a.md', 'b.md'], ['a.md', 'b.md']],
])('%s as the text of a link', (_what, to, parts, text) => {
  expect(linkText(docs, { to, parts })).toEqual(text);
});
