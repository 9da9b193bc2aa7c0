import { expect, test } from 'vitest';
import { applyRows, type LiveTable } from './hooks.ts';
import type { Row } from './table.ts';

const row = (uid: string, phase = 'Running'): Row => ({
  metadata: { name: uid, uid },
  cells: { Phase: phase },
});
const table = (...rows: Row[]): LiveTable => ({
  rows,
  columns: ['Phase'],
  resourceVersion: '1',
  more: false,
});
const names = ({ rows }: LiveTable) => rows.map(({ metadata }) => metadata.name);

test('a new row comes first, a changed one keeps its place, a deleted one goes', () => {
  const before = table(row('a'), row('b'));
  expect(names(applyRows(before, 'ADDED', [row('c')]))).toEqual(['c', 'a', 'b']);
  expect(applyRows(before, 'MODIFIED', [row('b', 'Failed')]).rows[1]?.cells).toEqual({ Phase: 'Failed' });
  expect(names(applyRows(before, 'DELETED', [row('a')]))).toEqual(['b']);
});

test('an event that was told twice changes nothing the second time', () => {
  const before = table(row('a'));
  expect(names(applyRows(before, 'ADDED', [row('a')]))).toEqual(['a']);
  expect(names(applyRows(before, 'DELETED', [row('z')]))).toEqual(['a']);
});
