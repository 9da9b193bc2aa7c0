import { expect, test } from 'vitest';
import { parseXml, textIn } from './xml.ts';

test('elements have names, texts and children, also where they name a namespace', () => {
  const list = parseXml(
    '<List xmlns="http://x/"><KeyCount>2</KeyCount><Key>a</Key><Key>b</Key><Prefix/></List>',
  );
  expect(list?.children.map(({ name, text }) => [name, text])).toEqual([
    ['KeyCount', '2'],
    ['Key', 'a'],
    ['Key', 'b'],
    ['Prefix', ''],
  ]);
  expect(textIn(list, 'KeyCount')).toBe('2');
  expect(textIn(list, 'Missing')).toBeUndefined();
});

test('references to characters are resolved once', () => {
  expect(textIn(parseXml('<a><Key>&quot;a&#x1F600;&#33;&amp;lt;</Key></a>'), 'Key')).toBe('"a😀!&lt;');
});

test.each([
  '',
  'text',
  '<Key',
  '<Key>',
  '<Key>a',
  '<Key a',
  '</Key>',
  '<a><Key>a</Key>',
  '<a><Key>a</a></Key>',
  '<a/><b/>',
  '<a/>text',
  '<a>&unknown;</a>',
  '<a>&#x110000;</a>',
  '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
])('a text that is cut or not well-formed (%j) is refused', (text) => {
  expect(parseXml(text)).toBeUndefined();
});

test.each([
  ['elements', '<a>'.repeat(1_000_000)],
  ['attributes', `<a ${Array.from({ length: 500_000 }, (_, index) => `b${index}="x"`).join(' ')}/>`],
])('millions of nested %s are refused at once', (_what, text) => {
  const start = performance.now();
  expect(parseXml(text)).toBeUndefined();
  expect(performance.now() - start).toBeLessThan(500);
});
