import { expect, test } from 'vitest';
import { callsOfItems, itemAt, itemTotal, loopItem } from './items.ts';

const error = { reason: 'Refused', message: 'no price' };
const output = { text_content: '', data_content: [{ sum: 6 }, { error }, null] };
const counts = { total: 40, succeeded: 38, failed: 2, running: 0, failures: [{ index: 1, ...error }] };

test.each([
  ['a result', output, undefined, 0, { index: 0, output: { data_content: { sum: 6 } } }],
  ['the result of a failed item', output, undefined, 1, { index: 1, failure: error }],
  ['an empty result', output, undefined, 2, { index: 2, output: { data_content: null } }],
  ['a failure without results', undefined, counts, 1, { index: 1, failure: error }],
  ['an item of which nothing is recorded', undefined, counts, 30, { index: 30 }],
])('%s of a loop is found', (_what, given, items, index, expected) => {
  expect(itemAt(given, items, index)).toEqual(expected);
});

test.each([
  [output, undefined, 3],
  [undefined, counts, 40],
  [output, counts, 40],
  [{ text_content: 'text' }, undefined, 0],
])('the number of items of %j and %j is %i', (given, items, total) => {
  expect(itemTotal(given, items)).toBe(total);
});

const rows = new Map([['rows', { output: { data_content: [1, 2, 3] } }]]);
const list = "{{ $('rows').data_content }}";

test.each([
  ['an item', { items: list, batch: 1 }, 1, { loop: 'each', index: 1, value: 2 }],
  ['a batch', { items: list, batch: 2 }, 1, { loop: 'each', index: 1, value: [3] }],
  ['an index behind the list', { items: list, batch: 1 }, 3, undefined],
  ['a list that is not recorded', { items: "{{ $('other').data_content }}", batch: 1 }, 0, undefined],
  ['a list in an item', { items: '{{ $item.lines }}', batch: 1 }, 0, undefined],
])('the input of a body node is known for %s', (_what, loop, index, expected) => {
  expect(loopItem({ id: 'each', ...loop }, rows, index)).toEqual(expected);
});

const loopNode = (id: string, within?: string, more = {}) => ({
  id,
  within,
  isCall: false,
  hasItems: false,
  ...more,
});
const call = { isCall: true };
const nodes = [
  loopNode('single', undefined, { ...call, hasItems: true }),
  loopNode('each', undefined, { hasItems: true }),
  loopNode('part', 'each'),
  loopNode('a', 'part', call),
  loopNode('b', 'each', call),
  loopNode('many', 'each', { ...call, hasItems: true }),
  loopNode('inner', 'each', { hasItems: true }),
  loopNode('c', 'inner', call),
];

test.each([
  ['single', ['single']],
  ['each', ['a', 'b']],
  ['inner', ['c']],
  ['none', []],
])('an item of %s starts the runs of %j', (loop, calls) => {
  expect(callsOfItems(nodes, loop)).toEqual(calls);
});
