import { expect, test } from 'vitest';
import { jsonText } from './jsonText.ts';

test.each([
  ['{"a":{"b":[1,"x,y: {}"]},"c":[],"d":{}}', { a: { b: [1, 'x,y: {}'] }, c: [], d: {} }],
  ['[true,null,-1.5e3,"\\"\\\\"]', [true, null, -1500, '"\\']],
  ['{}', {}],
])('the JSON %s gets line breaks and keeps its value', (text, value) => {
  expect(JSON.parse(jsonText(text))).toEqual(value);
  expect(jsonText(text).replaceAll('-1.5e3', '-1500')).toBe(JSON.stringify(value, null, 2));
});

test.each(['plain text', '{"cut": "… [cut]', '12345678901234567890', '', '{not json}'])(
  'the text "%s" stays as it is',
  (text) => {
    expect(jsonText(text)).toBe(text);
  },
);

test('a number keeps its digits', () => {
  expect(jsonText('{"id":12345678901234567890.10}')).toBe('{\n  "id": 12345678901234567890.10\n}');
});
