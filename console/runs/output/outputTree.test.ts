import { expect, test } from 'vitest';
import { parseExact } from '../../../api/exact/exactNumber.ts';
import { parseTemplate } from '../../../api/expression/parse.ts';
import {
  expressionOf,
  firstOpen,
  foundRows,
  keyOf,
  referenceOf,
  shortText,
  tablesOf,
  toolCallsOf,
  treeRows,
  wholeText,
  type OutputPath,
} from './outputTree.ts';

const data = (...path: (string | number)[]): OutputPath => ({ member: 'data_content', path });

const CASES: [OutputPath, string][] = [
  [{ member: 'text_content', path: [] }, "$('mail').text_content"],
  [data(), "$('mail').data_content"],
  [data('items', 0, 'name'), "$('mail').data_content.items[0].name"],
  [data('any key', "it's"), String.raw`$('mail').data_content['any key']['it\'s']`],
  [data('0', '', '__proto__', '}} {{'), "$('mail').data_content['0'][''].__proto__['}} {{']"],
];

test.each(CASES)('%j has the reference %s, which runners understand', (path, reference) => {
  expect(referenceOf('mail', path)).toBe(reference);
  const [read] = parseTemplate(expressionOf(reference)).parts;
  expect(read).toMatchObject({ node: 'mail', ...path });
});

const OUTPUT = { text_content: 'Hi', data_content: { name: 'Ada', items: [{ a: 1 }, { a: 2, b: [1, 2] }] } };
const labels = (rows: { label: string }[]) => rows.map(({ label }) => label);

test('closed branches are not visited', () => {
  expect(labels(treeRows(OUTPUT, new Set()))).toEqual(['text_content', 'data_content']);
  expect(labels(treeRows(OUTPUT, new Set([keyOf(data())])))).toEqual([
    'text_content',
    'data_content',
    'name',
    'items',
  ]);
  const deep = treeRows(OUTPUT, new Set([keyOf(data()), keyOf(data('items')), keyOf(data('items', 1))]));
  expect(deep.at(-1)).toMatchObject({ label: 'b', depth: 3, kind: 'list', size: 2, path: ['items', 1, 'b'] });
});

test('small outputs are open at first, large lists are closed', () => {
  expect(firstOpen(OUTPUT)).toContain(keyOf(data('items')));
  expect(firstOpen({ data_content: Array.from({ length: 10_000 }, () => ({ a: 1 })) }).size).toBe(1);
});

test('a search finds names and values with their full path', () => {
  expect(labels(foundRows(OUTPUT, 'ada'))).toEqual(['data_content.name']);
  expect(labels(foundRows(OUTPUT, 'A'))).toEqual([
    'data_content',
    'data_content.name',
    'data_content.items[0].a',
    'data_content.items[1].a',
  ]);
});

test('lists of objects are tables with the columns of all rows', () => {
  expect(tablesOf(OUTPUT)).toMatchObject([{ label: 'data_content.items', columns: ['a', 'b'] }]);
  expect(tablesOf({ data_content: [{ a: 1 }] })).toMatchObject([{ label: 'data_content', path: [] }]);
  for (const data_content of [null, 'text', [], [1], [{ a: 1 }, 2], [{}]])
    expect(tablesOf({ data_content })).toEqual([]);
});

test('tool calls are read from the usual formats', () => {
  const data_content = {
    tool_calls: [
      { function: { name: 'search', arguments: '{"q":"tea"}' }, result: [1] },
      { name: 'add', arguments: { a: 1 }, error: true },
    ],
  };
  expect(toolCallsOf({ data_content })).toEqual([
    { name: 'search', input: '{"q":"tea"}', result: '[\n  1\n]', isFailed: false },
    { name: 'add', input: '{\n  "a": 1\n}', result: undefined, isFailed: true },
  ]);
  expect(toolCallsOf({ data_content: { tool_calls: 'none' } })).toEqual([]);
});

test('an exact number is shown and copied as its digits', () => {
  const output = {
    data_content: parseExact('{"id":12345678901234567890,"rows":[{"id":12345678901234567891}]}'),
  };
  const rows = treeRows(output, new Set([keyOf(data())]));
  expect(rows[1]).toMatchObject({ label: 'id', kind: 'number', size: 0 });
  expect(shortText(rows[1]?.value)).toBe('12345678901234567890');
  expect(wholeText(output.data_content)).toContain('"id": 12345678901234567890');
  expect(shortText(tablesOf(output)[0]?.rows[0]?.['id'])).toBe('12345678901234567891');
  expect(foundRows(output, '4567891')).toHaveLength(1);
});
