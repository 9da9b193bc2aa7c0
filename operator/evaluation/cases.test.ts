import { describe, expect, test } from 'vitest';
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

test.each([
  ['data', '- name: a\n  data: &a [*a]'],
  ['a case', '- &a\n  name: a\n  data: *a'],
  ['an output', '- name: a\n  mocks: [{ node: x, output: &o { data_content: [*o] } }]'],
  ['a schema', '- name: a\n  expect: [{ schema: &s { type: object, properties: { a: *s } } }]'],
])('%s that contains itself by an alias is refused', (_what, text) =>
  expect(readCases(text)).toEqual({
    problem: 'an alias refers to a value that contains it, which JSON cannot express',
  }),
);

describe('a problem of a list of cases', () => {
  test.each([
    ['{ name: a }', 'the list of cases: must be a list'],
    ['[]', 'the list of cases: must have at least 1 entries'],
    ['- data: 1', 'case 1: name: is missing: add it'],
    ['- name: 1', 'case 1: name: must be text: put quotes around it'],
    [
      '- name: "a b"',
      'case a b: name: must consist of letters, digits, "-", "_" and ".", and begin and end with a letter or digit',
    ],
    [
      '- { name: a, expects: [] }',
      'case a: there is no field expects: a case has name, data, mocks, phase and expect',
    ],
    ['- { name: a, phase: Done }', 'case a: phase: must be Succeeded or Failed'],
    ['- { name: a, expect: { cel: "1" } }', 'case a: expect: must be a list'],
    [
      '- { name: a, expect: [{ cell: "1" }] }',
      'case a: expect[0]: there is no field cell: an expectation has contains, schema, cel, tokensAtMost and of',
    ],
    [
      '- { name: a, expect: [{ cel: "1", contains: x }] }',
      'case a: expect[0]: must have exactly one of contains, schema, cel and tokensAtMost',
    ],
    [
      '- { name: a, mocks: [{ node: x, outputs: {} }] }',
      'case a: mocks[0]: there is no field outputs: a mock has workflow, node, tool, output, error and real',
    ],
    ['- { name: a, expect: [{ tokensAtMost: -1 }] }', 'case a: expect[0].tokensAtMost: must be at least 0'],
  ])('%s: %s', (text, problem) => {
    expect(readCases(text)).toEqual({ problem });
  });
});
