/** Which credentials a project has, as far as its list says. */
import { expect, test } from 'vitest';
import { ApiFailure } from '../../http/failure.ts';
import type { LiveTable } from '../../kube/hooks.ts';
import { namesIn } from './credentialCheck.ts';

const listOf = (names: string[], more = false): LiveTable => ({
  rows: names.map((name) => ({ metadata: { name }, cells: {} })),
  columns: [],
  resourceVersion: '1',
  more,
});
const refused = new ApiFailure({ status: 403, title: 'Forbidden', detail: '', reason: 'Forbidden' });

test.each<[string, Parameters<typeof namesIn>[0], string | undefined]>([
  ['a list', { data: listOf(['smtp', 'llm']), error: null }, 'llm smtp'],
  ['an empty list', { data: listOf([]), error: null }, ''],
  ['a list that is being read', { data: undefined, error: null }, undefined],
  ['a part of a list', { data: listOf(['smtp'], true), error: null }, undefined],
  ['a list that may no longer be read', { data: listOf(['smtp']), error: refused }, undefined],
])('the names in %s', (_what, list, names) => {
  expect(namesIn(list)).toBe(names);
});
