import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { KEYS } from './keys.ts';

const CONSOLE = resolve(import.meta.dirname, '..');

/** The keys that components register with `usePageKey`, as the list spells them. */
const registered = globSync('**/*.tsx', { cwd: CONSOLE }).flatMap((path) => {
  const text = readFileSync(resolve(CONSOLE, path), 'utf8');
  return [...text.matchAll(/usePageKey\(\s*'([^']+)'/g)].map(([, key = '']) =>
    key.replace('mod+', 'Ctrl ').replace(/(?<![A-Za-z])[a-z]$/, (letter) => letter.toUpperCase()),
  );
});
const listed = new Set(KEYS.flatMap(({ keys }) => keys.flatMap(([names]) => names)));

test.each(registered)('the list of keys has %s, which a page registers', (key) => {
  expect(listed.has(key)).toBe(true);
});

test('pages register keys', () => {
  expect(registered).toEqual(expect.arrayContaining(['N', '/', 'Ctrl K', 'Ctrl Enter']));
});
