import { expect, test } from 'vitest';
import { subjectProblem, wideComments } from '../../../scripts/style.ts';

const wide = 'word '.repeat(30);

test.each([
  ['a line comment', `  // ${wide}`],
  ['a documentation comment', `/** ${wide} */`],
  ['a line of a block', ` * ${wide}`],
  ['a comment of a Lua script', `  -- ${wide}`],
])('%s of more than 110 columns is too wide', (_title, line) => {
  expect(wideComments(`ok\n${line}`)).toEqual([2]);
});

test.each([
  ['a comment of 110 columns', `// ${'word '.repeat(21)}ab`],
  ['code, which the formatter breaks', `const text = '${wide}';`],
  ['characters of several bytes', `// ${'… '.repeat(50)}`],
  ['a URL, which cannot be broken', `// https://example.com/${'a'.repeat(120)}`],
])('%s is not too wide', (_title, line) => {
  expect(wideComments(line)).toEqual([]);
});

test.each([
  ['Fix a retry after an ambiguous create', undefined],
  ['A'.repeat(36) + ' ' + 'b'.repeat(35), undefined],
  ['A'.repeat(36) + ' ' + 'b'.repeat(36), 'has 73 characters, at most 72 are allowed'],
  ['Fix a retry.', 'ends with a period'],
  ['x', 'is one word: say what the commit changes'],
])('subject %s: %s', (subject, problem) => {
  expect(subjectProblem(subject)).toBe(problem);
});
