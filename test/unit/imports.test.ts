import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importProblems } from '../../scripts/imports.ts';

test('every folder imports only what the table of the design admits', () => {
  expect(importProblems(join(import.meta.dirname, '../..'))).toEqual([]);
});
