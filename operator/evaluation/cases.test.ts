import { expect, test } from 'vitest';
import { readCases } from './cases.ts';

test('cases that are too large are refused before they are parsed', () =>
  expect(readCases(`# ${'x'.repeat(256 * 1024)}`)).toEqual({
    problem: expect.stringMatching(/^has 257 KiB, of which 256 are allowed: make several Evaluations$/),
  }));

test('data that aliases make too large is refused', () => {
  const aliases = Array.from({ length: 60 }, () => '*x').join(', ');
  const text = `- name: a\n  data:\n    x: &x ${'y'.repeat(10_000)}\n    list: [${aliases}]\n`;
  expect(readCases(text)).toEqual({
    problem: 'case a: data is larger than 512 KiB, the limit of an input: pass less data',
  });
});
