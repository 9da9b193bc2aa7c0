import { expect, test } from 'vitest';
import { fieldProblem } from './fieldProblem.ts';
import type { Editor, Field } from './fields.ts';
import type { FieldProblem } from './values.ts';

const field = (editor: Editor): Field => ({
  name: 'x',
  label: 'Host',
  isRequired: false,
  isExpression: false,
  editor,
});
const at = (path: string, problems: FieldProblem[] = []) => ({ path, problems, isAsked: true });

test('a field that shows the state of its credential does not repeat it as an error', () => {
  const credential = field({ kind: 'credential', kinds: ['imap'] });
  const unready = { field: 'mail.credential', message: 'Credential box is not ready', credential: 'box' };
  expect(fieldProblem(credential, 'box', at('mail.credential', [unready]))).toBeUndefined();
  const forbidden = { field: 'mail.credential', message: 'You are not allowed to use it.' };
  const both = at('mail.credential', [unready, forbidden]);
  expect(fieldProblem(credential, 'box', both)).toBe('You are not allowed to use it.');
});

test('tools tell what is wrong with a tool as such, and leave its fields to the fields', () => {
  const problems = [
    { field: 'agent.tools[0]', message: 'A tool must have one of skill and workflow.' },
    { field: 'agent.tools[0].name', message: 'Used twice.' },
  ];
  expect(fieldProblem(field({ kind: 'tools' }), [{}], at('agent.tools', problems))).toBe(
    'A tool must have one of skill and workflow.',
  );
});

test.each([
  [{ minimum: 1 }, 0, 'Enter 1 or more.'],
  [{ minimum: 1, maximum: 5_000 }, 6_000, 'Enter a number from 1 to 5,000.'],
  [{ maximum: 2 }, 2.5, 'Enter 2 or less.'],
  [{ minimum: 1, maximum: 3 }, 3, undefined],
  [{}, -3, undefined],
  [{}, 1.5, 'Enter a whole number.'],
  [{ minimum: 1 }, 1e19, 'Enter a number of at most 15 digits.'],
])('of a number with the bounds %j, %d is told %s', (bounds, value, told) => {
  const problems = [{ field: 'x', message: 'should be greater than or equal to 1' }];
  const known = told === undefined ? at('x') : at('x', problems);
  expect(fieldProblem(field({ kind: 'number', isWhole: true, ...bounds }), value, known)).toBe(told);
});

const HOST = '^[^\\s/@]+$';
const URL = '^https?:\\/\\/[^\\s]+$';

test.each([
  [HOST, 'https://mail.example.com', /host name alone/],
  [HOST, 'mail.example.com', /^nothing$/],
  [URL, 'api.example.com', /begins with https/],
  [URL, 'https://<resource>.openai.azure.com/openai/v1', /^Replace <resource>/],
  ['^x$', 'y', /description above/],
])('of the form %s, the text %s is told %s', (pattern, text, told) => {
  const problem = fieldProblem(field({ kind: 'text', pattern }), text, at('x.host'));
  expect(problem ?? 'nothing').toMatch(told);
});
