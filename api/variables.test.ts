/** How the ConfigMap of a project becomes variables. */
import { expect, test } from 'vitest';
import { ExactNumber } from './exact/exactNumber.ts';
import { VARIABLES_BYTES } from './expression/variables.ts';
import { variablesIn } from './variables.ts';

test.each<[sentence: string, data: Record<string, string> | undefined, variables: object]>([
  ['no ConfigMap has no variables', undefined, { values: {}, invalid: [] }],
  [
    'values are strings',
    { url: 'https://a.example', on: 'true' },
    { values: { url: 'https://a.example', on: 'true' }, invalid: [] },
  ],
  [
    'values of keys that end in .json are parsed',
    { 'limits.json': '{"max": 5}' },
    { values: { 'limits.json': { max: 5 } }, invalid: [] },
  ],
  [
    'a value that is not JSON is known',
    { 'a.json': '{', b: '{' },
    { values: { b: '{' }, invalid: ['a.json'] },
  ],
  [
    'JSON keeps numbers that a double cannot represent',
    { 'a.json': '{"id": 12345678901234567890}' },
    { values: { 'a.json': { id: new ExactNumber('12345678901234567890') } }, invalid: [] },
  ],
  [
    'JSON that no event may have is known',
    {
      'a.json': '1e400',
      'b.json': '{"__proto__": 1}',
      'c.json': '{"a": 1, "a": 2}',
      'd.json': '['.repeat(9_999) + ']'.repeat(9_999),
    },
    { values: {}, invalid: ['a.json', 'b.json', 'c.json', 'd.json'] },
  ],
  ['JSON may be null', { 'a.json': 'null' }, { values: { 'a.json': null }, invalid: [] }],
  ['64 KiB fit', { a: 'x'.repeat(VARIABLES_BYTES - 1) }, { invalid: [] }],
  ['more do not fit', { a: 'ä'.repeat(VARIABLES_BYTES / 2) }, { values: {}, isTooLarge: true }],
])('%s', (_sentence, data, variables) => {
  expect(variablesIn(data)).toMatchObject(variables);
});
