import { expect, test } from 'vitest';
import { problemsOf } from './problems.ts';

const failure = (detail: string, causes: { field: string; message: string }[] = []) => ({
  title: 'Invalid',
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
      { line: 7, field: 'spec.nodes[0].x', message: 'Unknown field.' },
      { field: 'spec.y', message: 'Unknown field.' },
    ],
  ],
  [failure('No.'), [{ message: 'Invalid. No.' }]],
  [failure(''), [{ message: 'Invalid' }]],
])('%j becomes %j', (said, problems) => {
  expect(problemsOf(said, lineOf)).toEqual(problems);
});
