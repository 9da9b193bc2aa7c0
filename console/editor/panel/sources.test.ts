import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { loopSourcesOf, sampledItems, sourcesOf } from './sources.ts';
import { previewOf } from '../../forms/expression/preview.ts';
import { shownIndex } from '../model/scopes.ts';
import { referenceProblems } from './referenceProblems.ts';

const spec: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'read_rows' }, onError: 'Continue' },
    { id: 'b', skill: { name: 'send_email' }, forEach: { items: "{{ $('a').data_content.rows }}" } },
    { id: 'aside', skill: { name: 'set' } },
  ],
  edges: [
    { from: 'trigger', to: 'a' },
    { from: 'a', to: 'b' },
    { from: 'trigger', to: 'aside' },
  ],
};
const outputs = new Map([['a', { text_content: 'two rows', data_content: { rows: [{ name: 'Ada' }] } }]]);

test('only earlier nodes can be referred to', () => {
  expect(sourcesOf(spec, 'b', outputs).nodes.map(({ id }) => id)).toEqual(['trigger', 'a']);
  expect(sourcesOf(spec, 'aside', outputs).nodes.map(({ id }) => id)).toEqual(['trigger']);
});

test('the item of forEach is one of the last output, or unknown', () => {
  const rows = { item: { name: 'Ada' }, index: 0, isReal: true, loop: 'b', count: 1 };
  expect(sourcesOf(spec, 'b', outputs).element).toEqual(rows);
  expect(sourcesOf(spec, 'b', new Map()).element).toMatchObject({ item: {}, isReal: false });
  expect(sourcesOf(spec, 'a', outputs).element).toBeUndefined();
});

test('the error of a node can be referred to if its failure does not end the run', () => {
  const [, a] = sourcesOf(spec, 'b', outputs).nodes;
  expect(a?.members).toEqual(['text_content', 'data_content', 'error']);
});

test('a node that failed in the last run shows its error, and no output', () => {
  const error = { reason: 'Timeout', message: 'no answer' };
  const sources = sourcesOf(spec, 'b', new Map([['a', { error }]]));
  expect(previewOf("{{ $('a').error.message }}", sources)).toEqual({
    kind: 'value',
    text: 'no answer',
    type: 'text',
  });
  expect(previewOf("{{ $('a').text_content }}", sources)).toMatchObject({ kind: 'missing' });
});

const set = (id: string, within?: string) => ({ id, skill: { name: 'set' }, ...(within && { within }) });
const nested: WorkflowSpec = {
  active: false,
  nodes: [
    { id: 'trigger', manual: {} },
    set('orders'),
    { id: 'each', group: {}, forEach: { items: "{{ $('orders').data_content }}" } },
    set('price', 'each'),
    { id: 'lines', group: {}, within: 'each', forEach: { items: '{{ $item.lines }}', batch: 2 } },
    set('line', 'lines'),
    { id: 'poll', group: {}, repeat: { until: 'true', limit: 3, initial: 'none' } },
    set('ask', 'poll'),
    set('check', 'poll'),
    set('end'),
  ],
};
const orders = new Map([
  ['orders', { text_content: '', data_content: [{ lines: [1] }, { lines: [1, 2, 3] }] }],
]);

test.each([
  ['a node of a body', 'price', ['trigger', 'orders', 'each'], 'orders'],
  ['a node of an inner body', 'line', ['trigger', 'orders', 'price', 'each', 'lines'], 'price'],
  ['a node after the groups', 'end', ['trigger', 'orders', 'each', 'poll'], 'poll'],
  ['the first node of a repeated body', 'ask', ['trigger', 'orders', 'each', 'poll'], 'poll'],
])('%s refers to what is before it and to the groups around it', (_what, id, ids, previous) => {
  const { nodes, previous: before } = sourcesOf(nested, id, orders);
  expect(nodes.map((node) => node.id)).toEqual(ids);
  expect(before?.id).toBe(previous);
});

test('an inner item is evaluated with the shown outer item', () => {
  const { element, nodes } = sourcesOf(nested, 'line', orders, { each: 1, lines: 1 });
  expect(element).toEqual({ item: [3], index: 1, isReal: true, loop: 'lines', count: 2 });
  const each = nodes.find(({ id }) => id === 'each');
  expect(each?.members).toEqual(['item', 'index']);
  expect(each?.output).toMatchObject({ item: { lines: [1, 2, 3] }, index: 1 });
});

test('before the first execution of repeat the output before is its initial value', () => {
  expect(sourcesOf(nested, 'ask', orders).previous?.output.data_content).toBe('none');
});

test('the items of a loop cannot refer to themselves, and until reads the own output', () => {
  const { items, until } = loopSourcesOf(nested, 'lines', orders);
  expect(items.element?.loop).toBe('each');
  expect(until.nodes.at(-1)?.id).toBe('lines');
});

test('the recorded item of a body belongs to its innermost loop', () => {
  const views = new Map([
    ['price', { item: 4 }],
    ['line', { item: 7 }],
    ['end', { item: 1 }],
    ['ask', {}],
  ]);
  expect(sampledItems(nested, views)).toEqual({ each: 4, lines: 7 });
});

test('the URL of a callback can be named before its node, in its group alone if it is in one', () => {
  const callback = (id: string, within?: string) => ({
    id,
    wait: { callback: {} },
    ...(within && { within }),
  });
  const nodes = [...nested.nodes, callback('approved'), callback('paid', 'each')];
  const of = (id: string) => sourcesOf({ ...nested, nodes }, id, orders).callbacks;
  expect([of('orders'), of('price'), of('line')]).toEqual([
    ['approved'],
    ['approved', 'paid'],
    ['approved', 'paid'],
  ]);
  expect(sourcesOf(nested, 'orders', orders).callbacks).toBeUndefined();
});

test('a loop named like an inherited member shows its first item until another one is chosen', () => {
  expect(['constructor', 'each'].map((loop) => shownIndex({ each: 3 }, loop))).toEqual([0, 3]);
});

test('a node in its own body, as while YAML is typed, is outside of groups', () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'each', group: {}, within: 'each' },
    { id: 'a', group: {}, within: 'b' },
    { id: 'b', group: {}, within: 'a' },
  ];
  const named = (id: string) =>
    sourcesOf({ active: false, nodes }, id, new Map()).nodes.map((source) => source.id);
  expect(named('each')).toEqual(['trigger']);
  expect(named('b')).toEqual(['trigger', 'each', 'a']);
});

test('the references of as many nodes as the canvas can show are checked within seconds', () => {
  const step = (index: number) => ({ id: `n${index}`, skill: { name: 'set', parameters: { values: {} } } });
  const nodes = [{ id: 'trigger', manual: {} }, ...Array.from({ length: 599 }, (_, index) => step(index))];
  const begun = performance.now();
  expect(referenceProblems({ active: false, nodes })).toEqual([]);
  expect(performance.now() - begun).toBeLessThan(10_000);
});
