import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeFinding, findTerms, isCovered, readGlossary, type Term } from '../../../scripts/glossary.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TERMS: readonly Term[] = [
  { words: ['world', 'worlds'], use: 'caches' },
  { words: ['in turn'], use: 'keyed queue' },
  {
    words: ['look', 'looks'],
    use: 'poll',
    allow: [
      { phrase: 'look up', reason: 'the verb of dictionaries' },
      { path: 'docs/reference/', reason: 'generated from other sources' },
    ],
  },
];
const found = (text: string, path = 'a.ts') =>
  findTerms(path, text, TERMS).map(({ line, word }) => [line, word]);

describe('a replaced word is found', () => {
  test.each([
    ['in a comment', '/** The world. */', [[1, 'world']]],
    ['in a string', "log.info('looks fine');", [[1, 'looks']]],
    ['at the start of an identifier', 'const worldOf = 1;', [[1, 'world']]],
    ['within an identifier', 'const theWorldOf = 1;', [[1, 'world']]],
    ['after an acronym', 'const HTTPWorld = 1;', [[1, 'world']]],
    ['in a constant', 'const MOST_WORLDS = 1;', [[1, 'worlds']]],
    ['as a phrase in an identifier', 'inTurn(work);', [[1, 'in turn']]],
    ['as a phrase over two lines', ' * one in\n * turn', [[1, 'in turn']]],
    [
      'on each line',
      'world\n\nworld',
      [
        [1, 'world'],
        [3, 'world'],
      ],
    ],
  ])('%s', (_title, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test('in a file name', () => {
    expect(found('', 'operator/worldCache.ts')).toEqual([[0, 'world']]);
  });
});

describe('not found is', () => {
  test.each([
    ['a longer word', 'overlook the worldly lookup'],
    ['an allowed phrase', 'look up the key; lookUp(key)'],
    ['nothing', ''],
  ])('%s', (_title, text) => {
    expect(found(text)).toEqual([]);
  });

  test('a word in a path where it is allowed', () => {
    expect(found('look', 'docs/reference/skills.md')).toEqual([]);
    expect(found('look', 'docs/skills.md')).toEqual([[1, 'look']]);
  });
});

test('an allowed phrase does not allow the word elsewhere on the line', () => {
  expect(found('look up what they look like')).toEqual([[1, 'look']]);
});

test('a finding names file, line, word and term', () => {
  const [finding] = findTerms('operator/x.ts', '\nworld', TERMS);
  expect(finding && describeFinding(finding)).toBe('operator/x.ts:2: "world": use caches');
});

test('each exception of the glossary has a reason, and each word stands once', () => {
  const { terms, excluded } = readGlossary(ROOT);
  const words = terms.flatMap((term) => term.words);
  expect(new Set(words).size).toBe(words.length);
  const exceptions = [...excluded, ...terms.flatMap(({ allow = [] }) => allow)];
  expect(exceptions.filter(({ reason }) => reason.trim() === '')).toEqual([]);
  expect(words.filter((word) => word !== word.toLowerCase())).toEqual([]);
});

test('images and excluded paths are not covered', () => {
  const glossary = { excluded: [{ path: 'docs/glossary', reason: 'lists them' }], pending: [], terms: [] };
  const paths = ['a.ts', 'docs/images/a.png', 'docs/glossary.md', 'docs/http.md'];
  expect(paths.filter((path) => isCovered(path, glossary))).toEqual(['a.ts', 'docs/http.md']);
});
