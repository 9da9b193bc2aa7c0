import { expect, test } from 'vitest';
import { foundEntries, foundSince, type Entry } from './entries.ts';

const entry = (group: Entry['group'], label: string, detail?: string): Entry => ({
  key: `${group} ${label}`,
  group,
  label,
  ...(detail !== undefined && { detail }),
  open: () => undefined,
});
const entries = [
  entry('Workflows', 'Confirm an order', 'order-confirmation'),
  entry('Workflows', 'Orders of today', 'today'),
  entry('Credentials', 'order-mail'),
  entry('Runs', 'order-confirmation-abc123', 'Failed'),
  entry('Actions', 'New workflow'),
];
const labels = (text: string) => foundEntries(entries, text).map(({ label }) => label);

test.each([
  [
    'a word of a label or of an ID',
    'order',
    ['Orders of today', 'Confirm an order', 'order-confirmation-abc123', 'order-mail'],
  ],
  ['all of several words', 'order confirm', ['Confirm an order', 'order-confirmation-abc123']],
  ['the end of the name of a run', 'abc123', ['order-confirmation-abc123']],
  ['nothing that is not there', 'invoice', []],
])('the palette finds %s', (_what, text, found) => {
  expect(labels(text)).toEqual(found);
});

test('the groups come in the same order, and actions first', () => {
  expect(labels('')[0]).toBe('New workflow');
});

test('before anything is typed all actions are listed, and five of each other group', () => {
  const many = Array.from({ length: 17 }, (_, index) => [
    entry('Actions', `Action ${index}`),
    entry('Workflows', `Workflow ${index}`),
  ]).flat();
  const groups = Map.groupBy(foundEntries(many, ''), ({ group }) => group);
  expect([groups.get('Actions')?.length, groups.get('Workflows')?.length]).toEqual([17, 5]);
});

test('a group whose label begins with the text comes before an action that only contains it', () => {
  expect(labels('or')).toEqual([
    'Orders of today',
    'Confirm an order',
    'order-confirmation-abc123',
    'order-mail',
    'New workflow',
  ]);
});

test('runs are found by their result first, and not by their age', () => {
  const runs = [entry('Runs', 'check-failed-1', 'Succeeded'), entry('Runs', 'b-2', 'Failed')];
  const aged = runs.map((run) => ({ ...run, note: '3 minutes ago' }));
  const found = (text: string) => foundEntries(aged, text).map(({ label }) => label);
  expect(found('failed')).toEqual(['b-2', 'check-failed-1']);
  expect(found('succeeded')).toEqual(['check-failed-1']);
  expect(found('minutes')).toEqual([]);
});

test('a run is found by its whole name, which is not shown', () => {
  const run = { ...entry('Runs', 'Check the stock · 30 Nov, 07:25:19'), alias: 'stock-0abc' };
  const found = (text: string) => foundEntries([run, ...entries], text).map(({ label }) => label);
  expect([found('stock-0abc'), found('0abc')]).toEqual([[run.label], [run.label]]);
});

test('of many objects some are shown, and more of them when a text names them', () => {
  const many = Array.from({ length: 20 }, (_, at) => entry('Runs', `run-${at}`));
  expect(foundEntries(many, '')).toHaveLength(5);
  expect(foundEntries(many, 'run')).toHaveLength(8);
});

test('the spaces of a time are found by those that can be typed', () => {
  const others = entry('Runs', 'Late orders · 30\u00a0Nov, 9:05\u202fAM');
  const run = entry('Runs', 'Orders · 30\u00a0Nov, 9:05\u202fAM');
  expect(foundEntries([others, run], 'orders · 30 nov, 9:05 am')).toEqual([run, others]);
});

test('a group says how many it has, also those that are not shown', () => {
  const many = Array.from({ length: 20 }, (_, at) => entry('Runs', `run-${at}`));
  const counts = (text: string) =>
    foundSince(undefined, { text, isLoaded: true, entries: [...many, ...entries] }).counts.get('Runs');
  expect([counts(''), counts('run-1'), counts('order')]).toEqual([21, 11, 1]);
});

test('once all is loaded, what a text finds stays where it is until the text changes', () => {
  const later = [entry('Runs', 'order-000000'), ...entries];
  const loading = foundSince(undefined, { text: '', isLoaded: false, entries: [] });
  const loaded = foundSince(loading, { text: '', isLoaded: true, entries });
  expect(loaded.shown).toEqual(foundEntries(entries, ''));
  expect(foundSince(loaded, { text: '', isLoaded: true, entries: later })).toBe(loaded);
  const typed = foundSince(loaded, { text: '000', isLoaded: true, entries: later });
  expect(typed.shown.map(({ label }) => label)).toEqual(['order-000000']);
});
