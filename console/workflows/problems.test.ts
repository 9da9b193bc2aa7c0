import { expect, test } from 'vitest';
import { problemsOf } from './problems.ts';

const failure = (detail: string, causes: { field: string; message: string }[] = []) => ({
  title: 'The API server does not accept it',
  detail,
  causes,
});
const lineOf = (field: string) => (field.startsWith('spec.nodes') ? 7 : undefined);

test.each([
  [
    failure('', [
      { field: 'spec.nodes[1]', message: 'one kind' },
      { field: 'spec', message: 'a trigger' },
    ]),
    [
      { line: 7, field: 'spec.nodes[1]', message: 'one kind' },
      { field: 'spec', message: 'a trigger' },
    ],
  ],
  [
    failure('strict decoding error: unknown field "spec.nodes[0].x", unknown field "spec.y"'),
    [
      { line: 7, field: 'spec.nodes[0].x', message: 'There is no such field.' },
      { field: 'spec.y', message: 'There is no such field.' },
    ],
  ],
  [failure('No.'), [{ message: 'The API server does not accept it. No.' }]],
  [failure(''), [{ message: 'The API server does not accept it' }]],
])('%j becomes %j', (said, problems) => {
  expect(problemsOf(said, lineOf)).toEqual(problems);
});
