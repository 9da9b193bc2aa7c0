/** What is wrong with a list of cases, in the words of its author. Pure. */
import * as z from 'zod';
// Through `z` it would bring the messages of all languages into a bundle.
import { toDotPath } from 'zod/v4/core';

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  record: 'an object',
  string: 'text: put quotes around it',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

const FIELDS = {
  cases: 'name, data, mocks, phase and expect',
  mocks: 'workflow, node, tool, output, error and real',
  expect: 'contains, schema, cel, tokensAtMost and of',
} as const;

/** The sentence about the first problem, which begins with its place: `case orders: expect[0].cel: …`. */
export function problemOfCases({ issues }: z.ZodError, value: unknown): string {
  const [issue] = issues;
  if (!issue) return 'the list of cases is invalid';
  const [index, ...rest] = issue.path;
  if (typeof index !== 'number') return `the list of cases: ${wordsOf(issue, value)}`;
  const place = [`case ${nameOf(value, index)}`, ...(rest.length === 0 ? [] : [toDotPath(rest)])];
  return `${place.join(': ')}: ${wordsOf(issue, value)}`;
}

/** The name of a case, or its position from 1. */
function nameOf(value: unknown, index: number): string {
  const name = memberOf(memberOf(value, index), 'name');
  return typeof name === 'string' && name !== '' ? name : String(index + 1);
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function wordsOf(issue: z.core.$ZodIssue, value: unknown): string {
  const isMissing = issue.path.length > 0 && issue.path.reduce(memberOf, value) === undefined;
  const { code } = issue;
  if (isMissing && (code === 'invalid_type' || code === 'invalid_value')) return 'is missing: add it';
  if (code === 'unrecognized_keys')
    return `there is no field ${issue.keys.join(', ')}${fieldsAt(issue.path)}`;
  if (code === 'invalid_type') return `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (code === 'invalid_value') return `must be ${issue.values.map(String).join(' or ')}`;
  if (code === 'too_small') return `must ${boundOf('least', issue.origin, issue.minimum)}`;
  if (code === 'too_big') return `must ${boundOf('most', issue.origin, issue.maximum)}`;
  return code === 'invalid_format' ? NAME_FORMAT : issue.message;
}

const NAME_FORMAT =
  'must consist of letters, digits, "-", "_" and ".", and begin and end with a letter or digit';

/** `have at least 1 entries` of texts and lists, `be at least 0` of numbers. */
function boundOf(side: string, origin: string, bound: number | bigint): string {
  if (origin !== 'string' && origin !== 'array') return `be at ${side} ${bound}`;
  const unit = origin === 'string' ? 'characters' : 'entries';
  return `have at ${side} ${bound} ${unit}`;
}

function fieldsAt(path: readonly PropertyKey[]): string {
  if (path.length === 1) return `: a case has ${FIELDS.cases}`;
  const [, list] = path;
  if (path.length !== 3 || (list !== 'mocks' && list !== 'expect')) return '';
  return `: ${list === 'mocks' ? 'a mock' : 'an expectation'} has ${FIELDS[list]}`;
}
