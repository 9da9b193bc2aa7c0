import { describe, expect, test } from 'vitest';
import { parseManifests } from './manifests.ts';

const valuesIn = (text: string) => parseManifests(text).manifests.map(({ value }) => value);

describe('manifests are read as kubectl reads them', () => {
  test.each([
    ['several documents, also empty ones', 'a: 1\n---\n# none\n---\na: 2\n', [{ a: 1 }, { a: 2 }]],
    ['JSON', '{"a": [1]}', [{ a: [1] }]],
    ['words that are booleans in YAML 1.1', 'a: yes\nb: off', [{ a: true, b: false }]],
    [
      'times, dates and sexagesimal numbers as text',
      'a: 12:30\nb: 2026-01-01',
      [{ a: '12:30', b: '2026-01-01' }],
    ],
    ['merged anchors', 'a: &a { x: 1 }\nb: { <<: *a, z: 2 }', [{ a: { x: 1 }, b: { x: 1, z: 2 } }]],
    ['the objects of a List', 'kind: List\nitems: [{ a: 1 }, { a: 2 }]', [{ a: 1 }, { a: 2 }]],
    ['no lists and texts', '[1]\n---\nhello', []],
    ['question marks outside of flow', 'a: Who?\nb: ["Why?"]', [{ a: 'Who?', b: ['Why?'] }]],
    ['nothing', '', []],
  ])('%s', (_what, text, values) => {
    expect(valuesIn(text)).toEqual(values);
  });
});

const bomb = Array.from({ length: 8 }, (_, index) => {
  const before = index === 0 ? '1' : `*a${index - 1}`;
  return `a${index}: &a${index} [${Array(9).fill(before).join(', ')}]`;
}).join('\n');

describe('a document that cannot be read has a problem with its place', () => {
  test.each([
    ['broken YAML', 'a: [1\nb: 2', { line: 2, column: 1 }, /^error parsing: /],
    ['a key that is repeated', 'a: 1\na: 2', { line: 2, column: 1 }, /must be unique/],
    ['a reference without quotes', "a: {{ $('x') }}", { line: 1, column: 5 }, /put quotes around text/],
    ['a question mark in a list', 'a: [Who?, "Why?"]', { line: 1, column: 5 }, /put quotes around it/],
    ['a question mark in a map', 'a: { b: { c: x?y } }', { line: 1, column: 14 }, /put quotes around it/],
    ['a bomb of aliases', bomb, { line: 1, column: 1 }, /more than 100 times/],
    ['a value that contains itself', 'a: &a { b: *a }', { line: 1, column: 12 }, /anchor a contains itself/],
    ['an alias without an anchor', 'a: *b', { line: 1, column: 1 }, /or to one that does not exist/],
  ])('%s', (_what, text, place, says) => {
    expect(parseManifests(text)).toEqual({
      manifests: [],
      problems: [{ ...place, message: expect.stringMatching(says) as string }],
    });
  });

  test.each(['[', '{a: ', '- '])('10,000 levels of %j', (opening) => {
    const { problems } = parseManifests(`a:\n  ${opening.repeat(10_000)}`);
    expect(problems.map(({ message }) => message)).toEqual(['the document is nested too deeply to be read']);
  });

  test('and the documents beside it are read', () => {
    expect(valuesIn('a: [\n---\na: 1')).toEqual([{ a: 1 }]);
  });
});

describe('the place of a value', () => {
  const [manifest] = parseManifests('a:\n  b:\n    - c: 1\n    - d: x\n').manifests;

  test.each([
    [['a', 'b', 1, 'd'], { line: 4, column: 10 }],
    [['a', 'b', 1, 'e', 'f'], { line: 4, column: 7 }],
    [['x'], { line: 1, column: 1 }],
  ])('of %j is %j', (path, place) => {
    expect(manifest?.place(path)).toEqual(place);
  });

  test('is apart from that of its name', () => {
    expect(manifest?.placeOfName(['a', 'b', 1, 'd'])).toEqual({ line: 4, column: 7 });
  });
});

test('names of fields that kubectl stores as booleans are found, those in quotes are not', () => {
  const [, second] = parseManifests(
    'kind: List\nitems:\n  - n: 1\n  - a: { yes: 1, "no": 2, on off: 3, false: 4 }',
  ).manifests;
  expect(second?.booleanNames()).toEqual([{ line: 4, column: 10, name: 'yes', stored: 'true' }]);
});
