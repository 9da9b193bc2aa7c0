import { expect, test } from 'vitest';
import { elementOf, elementsOf, textIn } from './xml.ts';

test('elements are found by their whole name, also where they name a namespace', () => {
  const text = '<List xmlns="http://x/"><KeyCount>2</KeyCount><Key>a</Key><Key>b</Key></List>';
  const list = elementOf(text, 'List') ?? '';
  expect([...elementsOf(list, 'Key')]).toEqual(['a', 'b']);
  expect(textIn(list, 'KeyCount')).toBe('2');
  expect(textIn(list, 'Missing')).toBeUndefined();
});

test('references to characters are resolved once, and nothing else is', () => {
  expect(textIn('<Key>&quot;a&#x1F600;&#33;&amp;lt;&unknown;&#x110000;</Key>', 'Key')).toBe(
    '"a😀!&lt;&unknown;&#x110000;',
  );
});

test.each(['', '<Key', '<Key>', '<Key>a', '<Key a', '</Key>'])(
  'what ends early (%o) has no element',
  (text) => {
    expect(elementOf(text, 'Key')).toBeUndefined();
  },
);
