import { afterEach, expect, test, vi } from 'vitest';
import { readMarkdown } from './chatMarkdown.js';

afterEach(() => void vi.restoreAllMocks());

/** How often patterns read a line, and its characters, without those that they read again. */
function readCharacters(text: string): number {
  const exec = vi.spyOn(RegExp.prototype, 'exec');
  readMarkdown(text);
  const read = exec.mock.calls.reduce((sum, [line]) => sum + 1 + line.length, 0);
  exec.mockRestore();
  return read;
}

test.each(['\n', 'a\n', 'a\n\n', '# a\n', '- a\n', '- a\n  b\n', '> a\n', '| a |\n|--|\n', '```\n', '---\n'])(
  'ten times as many lines %j are read in ten times as many steps',
  (line) => {
    const few = readCharacters(line.repeat(200));
    expect(few).toBeGreaterThan(0);
    expect(readCharacters(line.repeat(2_000))).toBeLessThan(10.5 * few);
  },
);

test('no line moves those after it', () => {
  const shift = vi.spyOn(Array.prototype, 'shift');
  const splice = vi.spyOn(Array.prototype, 'splice');
  readMarkdown('a\n\n# b\n- c\n  d\n  - e\n1. f\n> g\n| h |\n|---|\n| i |\n```\nj\n```\n---\n| k');
  expect([shift, splice].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});

test.each([
  '>'.repeat(20_000),
  '-'.repeat(20_000) + 'x',
  '- '.repeat(20_000) + 'x',
  ' '.repeat(20_000) + 'x',
  `${'  '.repeat(50)}- a\n`.repeat(100),
  '|'.repeat(20_000),
  `${'|'.repeat(200)}\n|-|\n`.repeat(100),
  `${'>\n'.repeat(10_000)}${'> - '.repeat(10_000)}`,
  '# \u2028b',
  '- \u2028',
  '|\u2028|\n|-|',
])('hostile text is read: %#', (text) => {
  expect(readMarkdown(text).length).toBeGreaterThan(0);
});
