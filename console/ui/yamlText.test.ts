import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlText } from './yamlText.ts';

test('what is written as YAML means the same to readers of the older and of the newer YAML', () => {
  const value = {
    n: 'yes',
    on: ['off', 'y', '12:30:45', '0o7', '010', '1_000', '2026-01-02', '~', 'null', '1e3'],
    text: 'two\nlines',
  };
  const text = yamlText(value);
  expect(parse(text, { version: '1.1' })).toEqual(value);
  expect(parse(text)).toEqual(value);
});

test('long lines stay whole, and what occurs twice is written twice', () => {
  const same = { prompt: 'word '.repeat(60) };
  expect(yamlText([same, same])).toBe(`- prompt: "${same.prompt}"\n`.repeat(2));
});
