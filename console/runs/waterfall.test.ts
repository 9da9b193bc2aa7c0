import { expect, test } from 'vitest';
import type { NodeView, RunHead } from './live/nodeView.ts';
import { shapeOf } from './revision.ts';
import { barsOf, spanOf, waitIn } from './waterfall.ts';

const at = (seconds: number) => new Date(1_000_000 + seconds * 1_000).toISOString();
const RUN: RunHead = {
  run: 'orders-1',
  workflow: 'shop.orders',
  phase: 'Running',
  test: false,
  acceptedTime: at(0),
  startTime: at(1),
};
const nodes = (...list: NodeView[]) => new Map(list.map((node) => [node.id, node]));

test('bars are placed by time, in the order of the revision, and grow until now', () => {
  const bars = barsOf(
    RUN,
    nodes(
      { id: 'later', phase: 'Running', startTime: at(5) },
      { id: 'first', phase: 'Succeeded', startTime: at(0), completionTime: at(5) },
    ),
    ['first', 'later', 'last'],
    1_010_000,
  );
  expect(bars).toMatchObject([
    { node: { id: 'first' }, left: 0, width: 50, ms: 5_000 },
    { node: { id: 'later' }, left: 50, width: 50, ms: 5_000 },
    { node: { id: 'last', phase: 'Pending' }, left: undefined },
  ]);
});

test('nodes that a resumed run kept are at its begin, and do not stretch it', () => {
  const run = { ...RUN, phase: 'Succeeded', startTime: at(0), completionTime: at(2) } as const;
  const bars = barsOf(
    run,
    nodes(
      { id: 'kept', phase: 'Succeeded', startTime: at(-41), completionTime: at(-40) },
      { id: 'again', phase: 'Succeeded', startTime: at(0), completionTime: at(2) },
    ),
    ['kept', 'again'],
    0,
  );
  expect(bars).toMatchObject([
    { left: 0, width: 0, ms: 1_000 },
    { left: 0, width: 100, ms: 2_000 },
  ]);
});

test('a run without duration and nodes that no revision names have bars', () => {
  const run = { ...RUN, phase: 'Succeeded', startTime: at(0), completionTime: at(0) } as const;
  const bars = barsOf(
    run,
    nodes({ id: 'x', phase: 'Succeeded', startTime: at(0), completionTime: at(0) }),
    [],
    0,
  );
  expect(bars).toMatchObject([{ node: { id: 'x' }, left: 0, width: 0, ms: 0 }]);
});

test('a revision has the predecessors of nodes, and anything else has none', () => {
  const data = { trigger: { id: 't' }, steps: [{ id: 'a' }, { id: 'b' }], edges: [{ from: 't', to: 'b' }] };
  expect(shapeOf(data).ids).toEqual(['t', 'a', 'b']);
  expect(shapeOf(data).before('b')).toEqual(['t']);
  for (const odd of [null, 'text', {}, { steps: 3, edges: [null] }]) {
    expect(shapeOf(odd).ids).toEqual([]);
    expect(shapeOf(odd).before('b')).toEqual([]);
  }
});

test('an ended node of a loop, of which the record lacks the end, has no bar', () => {
  const bars = barsOf(RUN, nodes({ id: 'call', phase: 'Succeeded', startTime: at(1), item: 0 }), ['call'], 0);
  expect(bars).toMatchObject([{ node: { id: 'call' }, left: undefined, ms: undefined }]);
});

test.each([
  ['a short wait before the start is left out, so that the axis ends at the duration', 1, 80, undefined],
  ['a longer wait is shown, with its length', 20, 100, { ms: 20, width: 20 }],
])('%s', (_what, waitedMs, shownMs, wait) => {
  const accepted = Date.parse(at(0));
  const text = (ms: number) => new Date(accepted + ms).toISOString();
  const run = { ...RUN, startTime: text(waitedMs), completionTime: text(waitedMs + 80) };
  const { from, to } = spanOf(run, [], 0);
  expect(to - from).toBe(shownMs);
  expect(waitIn(run, { from, to })).toEqual(wait);
});

test.each<[string, Partial<RunHead>, object | undefined]>([
  ['waits now', { phase: 'Pending' }, { ms: 10_000, width: 100 }],
  ['was cancelled while it waited', { phase: 'Cancelled', completionTime: at(5) }, { ms: 5_000, width: 100 }],
  ['was refused did not wait', { phase: 'Failed', completionTime: at(1) }, undefined],
])('a run without a start that %s', (_what, head, wait) => {
  const { startTime: _none, ...accepted } = RUN;
  const run = { ...accepted, ...head };
  expect(waitIn(run, spanOf(run, [], 1_010_000))).toEqual(wait);
});
