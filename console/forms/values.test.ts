import { expect, test } from 'vitest';
import { formText, mistakeIn, problemsAt, scalarOf, scalarText, shownRows, withMember } from './values.ts';

test.each([
  ['', { a: 1 }],
  [undefined, { a: 1 }],
  [[], { a: 1 }],
  [{}, { a: 1 }],
  [false, { a: 1, b: false }],
  [0, { a: 1, b: 0 }],
  [null, { a: 1, b: null }],
])('setting the member b to %j results in %j', (value, expected) => {
  expect(withMember({ a: 1, b: 'before' }, 'b', value)).toEqual(expected);
});

test.each<[text: string, value: unknown]>([
  ['5', 5],
  ['-1.5', -1.5],
  ['true', true],
  ['null', null],
  ['"5"', '5'],
  ['"true"', 'true'],
  ['"quoted"', '"quoted"'],
  ['007', '007'],
  ['12345678901234567890', '12345678901234567890'],
  ['1e3', '1e3'],
  ['Ada', 'Ada'],
  ["{{ $('a').text_content }}", "{{ $('a').text_content }}"],
])('the text %s is the value %j and is shown as it was written', (text, value) => {
  expect(scalarOf(text)).toEqual(value);
  expect(scalarText(value)).toBe(text);
});

test('any shown value parses back to itself', () => {
  const quotes = '"'.repeat(60_000);
  for (const value of ['""', '"5"', '""5""', '" "5" "', ' 5 ', '"', 'a\nb', quotes, 3, true, null])
    expect(scalarOf(scalarText(value))).toEqual(value);
});

test('problems are shown at their field, including nested ones at leaves', () => {
  const problems = [
    { field: 'agent.prompt', message: 'is empty' },
    { field: 'agent.tools[0].skill', message: 'is unknown' },
    { field: 'agent.tools[0].skill', message: 'is unknown' },
  ];
  expect(problemsAt(problems, 'agent.prompt', false)).toEqual(['is empty']);
  expect(problemsAt(problems, 'agent.tools', true)).toEqual(['is unknown']);
  expect(problemsAt(problems, 'agent.tools', false)).toEqual([]);
});

test.each([
  [
    'node code: code.source: line 2, column 11: unexpected token',
    { line: 2, column: 11, message: 'unexpected token' },
  ],
  ['JavaScript is required.', undefined],
  [undefined, undefined],
])('the position of an error in code: %s', (error, mistake) => {
  expect(mistakeIn(error)).toEqual(mistake);
});

test.each([
  ['node ask: skill: parameters: url: is missing', 'Is missing'],
  ["node ask: agent.prompt: $('x').text_content names no node", "$('x').text_content names no node"],
  ['node ask: Credential smtp is of kind imap', 'Credential smtp is of kind imap'],
  ['edge a → b: when: line 1: unknown', 'Line 1: unknown'],
  [
    "Node 'x' does not run before this one: use one of a",
    "Node 'x' does not run before this one: use one of a",
  ],
  ['no edge leads to it', 'no edge leads to it'],
])('beside its field, the problem "%s" is "%s"', (message, text) => {
  expect(formText(message)).toBe(text);
});

test('a form says nothing of the quotes of YAML', () => {
  const message = `unexpected of; text needs its own quotes: "out of stock" (in YAML '"out of stock"')`;
  const problems = [{ field: 'set.values', message }];
  expect(problemsAt(problems, 'set.values', true)).toEqual([
    'unexpected of; text needs its own quotes: "out of stock"',
  ]);
});

test('rows are shown as they are typed, unless the value is another one since', () => {
  const typed = [
    ['a', '1'],
    ['', 'no name yet'],
  ] as const;
  expect(shownRows(typed, { a: '1' })).toBe(typed);
  expect(shownRows(typed, { a: '1', b: '2' })).toEqual([
    ['a', '1'],
    ['b', '2'],
  ]);
  expect(shownRows(typed, undefined)).toEqual([]);
  expect(shownRows([['', '']], undefined)).toEqual([['', '']]);
});
