import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlText } from './yamlText.ts';

test('YAML means the same to YAML 1.1 and 1.2 readers', () => {
  const value = {
    n: 'yes',
    on: ['off', 'y', '12:30:45', '0o7', '010', '1_000', '2026-01-02', '~', 'null', '1e3'],
    text: 'two\nlines',
  };
  const text = yamlText(value);
  expect(parse(text, { version: '1.1' })).toEqual(value);
  expect(parse(text)).toEqual(value);
});

test('long lines are not folded, and repeated values are written in full', () => {
  const same = { prompt: 'word '.repeat(60) };
  expect(yamlText([same, same])).toBe(`- prompt: "${same.prompt}"\n`.repeat(2));
});
