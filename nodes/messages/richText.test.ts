import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { partsOf } from './richText.ts';
import type { RichText } from '../contract/messenger.ts';

const room = (most: number) => ({ most, lengthOf: ({ text }: RichText) => text.length });
const plain = (text: string): RichText => ({ text, spans: [] });
const texts = (text: string, most: number) => [...partsOf(plain(text), room(most))].map((part) => part.text);

test.each<[string, string, number, string[]]>([
  ['between paragraphs', 'one two three\n\nfour\nfive six', 20, ['one two three', 'four\nfive six']],
  ['between lines', 'one two three\n  four five', 18, ['one two three', '  four five']],
  ['between words', 'one two three four', 9, ['one two', 'three', 'four']],
  ['within a word that is too long', 'abcdefghij', 4, ['abcd', 'efgh', 'ij']],
  ['not within an emoji', '👩‍👩‍👧👩‍👩‍👧', 12, ['👩‍👩‍👧', '👩‍👩‍👧']],
  ['not within a pair', '🦀🦀🦀', 3, ['🦀', '🦀', '🦀']],
  ['not at all where there is room', ' a\n', 3, [' a']],
  ['where nothing but space is', ' \n '.repeat(20), 5, []],
])('a text is cut %s', (_where, text, most, expected) => {
  expect(texts(text, most)).toEqual(expected);
});

test.each(['🇩🇪', '👍🏽', '👩‍👩‍👧', 'e\u0301', '\u1112\u1161\u11ab'])(
  'of many %s none is cut in two, wherever they begin',
  (character) => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const parts = texts(before + character.repeat(100), 101);
      expect(parts.length).toBeGreaterThan(1);
      for (const [index, part] of parts.entries())
        expect(part.slice(index === 0 ? before.length : 0).replaceAll(character, '')).toBe('');
    }
  },
);

test('a format goes on in the next part', () => {
  const rich: RichText = {
    text: 'first line\nsecond line',
    spans: [
      { format: 'pre', start: 0, end: 22, language: 'c' },
      { format: 'bold', start: 0, end: 5 },
    ],
  };
  expect([...partsOf(rich, room(14))]).toEqual([
    {
      text: 'first line',
      spans: [
        { format: 'pre', start: 0, end: 10, language: 'c' },
        { format: 'bold', start: 0, end: 5 },
      ],
    },
    { text: 'second line', spans: [{ format: 'pre', start: 0, end: 11, language: 'c' }] },
  ]);
});

test('no part is too long as it is sent, and nothing but space is lost', () => {
  const grown = { most: 50, lengthOf: ({ text }: RichText) => text.replaceAll('&', '&amp;').length };
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '&', ' ', '\n', '🦀', '👩‍👩‍👧'), maxLength: 400 });
  fc.assert(
    fc.property(text, (text) => {
      const parts = [...partsOf(plain(text), grown)];
      for (const part of parts) expect(grown.lengthOf(part)).toBeLessThanOrEqual(grown.most);
      const solid = (text: string) => text.replaceAll(/\s/g, '');
      expect(solid(parts.map((part) => part.text).join(''))).toBe(solid(text));
      for (const part of parts) expect(part.text.isWellFormed()).toBe(true);
    }),
  );
});
