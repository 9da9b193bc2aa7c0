import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { LastResult } from '../../runs/live/lastResults.ts';
import { draftOf } from './annotation.ts';
import { mergeDrafts } from './merge.ts';
import { removeNodes, renameNode, type Draft } from './model.ts';
import { pinOf, withoutPin, withPin } from './pin.ts';
import {
  isPinnable,
  keptPins,
  mocksBefore,
  mocksProblem,
  pinnedMocks,
  pinProblem,
  readPin,
  unpinnableNote,
  withPinnedOutputs,
  withRunPinned,
} from './pins.ts';
import { opened, edited, isDirty, receive } from './session.ts';
import { bodyOf, readBody } from './storedDraft.ts';

const COMPUTING = new Set(['set']);
const call = (id: string, more: Partial<WorkflowNode> = {}): WorkflowNode => ({
  id,
  skill: { name: 'http_request', parameters: {} },
  ...more,
});
const set = { id: 'sum', skill: { name: 'set', parameters: {} } };
const nodes: WorkflowNode[] = [
  { id: 'trigger', manual: {} },
  call('ask'),
  set,
  { id: 'each', group: {}, forEach: { items: '{{ [] }}' } },
  call('inner', { within: 'each' }),
  call('last'),
];
const workflow = {
  metadata: { name: 'orders', uid: 'u', resourceVersion: '1' },
  spec: { active: true, nodes },
};
const draft: Draft = draftOf(workflow);
const pin = (text: string) => ({ text_content: text, data_content: { text } });
const pinned = withPin(withPin(draft, 'ask', pin('a')), 'sum', pin('s'));

test.each<[WorkflowNode, boolean]>([
  [call('a'), true],
  [{ id: 'a', code: { source: 'return 1;' } }, true],
  [{ id: 'a', wait: { duration: '1h' } }, true],
  [set, true],
  [{ id: 'a', group: {} }, false],
  [{ id: 'a', response: {} }, false],
  [{ id: 'a', fail: { reason: 'Refused', message: 'no' } }, false],
])('%j can be pinned: %s', (node, expected) => {
  expect(isPinnable(node)).toBe(expected);
  expect(unpinnableNote(node) === undefined).toBe(expected);
});

test('a test run is given the pins of nodes that it would execute', () => {
  expect(pinnedMocks(draft)).toBeUndefined();
  expect(pinnedMocks(pinned)).toEqual([
    { node: 'ask', output: pin('a') },
    { node: 'sum', output: pin('s') },
  ]);
});

test('a test run is given no pins of disabled steps, nor of those in disabled groups, which are kept', () => {
  const all = withPin(withPin(pinned, 'inner', pin('i')), 'last', pin('l'));
  const off = (ids: string[]): Draft => ({
    ...all,
    spec: {
      ...all.spec,
      nodes: nodes.map((node) => (ids.includes(node.id) ? { ...node, disabled: true } : node)),
    },
  });
  expect(pinnedMocks(off(['ask', 'each', 'sum']))).toEqual([{ node: 'last', output: pin('l') }]);
  expect(mocksBefore(off(['ask', 'each', 'sum']), 'last', LAST, COMPUTING)).toEqual({
    mocks: [],
    executed: [],
  });
  expect(keptPins(off(['ask', 'each']))).toEqual(keptPins(all));
});

test('a pin has the new ID of its node, stays out of the text of one that is gone, and comes back with it', () => {
  const renamed = renameNode(pinned, 'ask', 'question');
  expect(pinOf(renamed, 'question')).toEqual(pin('a'));
  expect(pinOf(renamed, 'ask')).toBeUndefined();
  const removed = removeNodes(pinned, ['ask']);
  expect(keptPins(removed)).toEqual({ sum: pin('s') });
  expect(bodyOf(removed)).not.toContain('"ask"');
  expect(withoutPin(withoutPin(pinned, 'ask'), 'sum')).toEqual(draft);
});

test('an ID may be the name of an inherited member', () => {
  expect(pinOf(pinned, 'constructor')).toBeUndefined();
});

test('stored pins are read back, and invalid ones are ignored', () => {
  const body = JSON.parse(bodyOf(pinned)) as { pins: object };
  const hostile = { ...body.pins, each: { text_content: 1 }, last: 'x', inner: { other: 1 } };
  expect(readBody(JSON.stringify({ ...body, pins: hostile }), workflow.spec)).toEqual(pinned);
  expect(readBody(JSON.stringify({ ...body, pins: [] }), workflow.spec)?.pins).toBeUndefined();
});

test('pins are not unpublished changes, and outlive a publication and changes of others', () => {
  const session = edited(opened(workflow), () => pinned, { at: 1 });
  expect(isDirty(session)).toBe(false);
  const metadata = { ...workflow.metadata, resourceVersion: '2' };
  const spec = { ...workflow.spec, displayName: 'Orders' };
  const { session: after, outcome } = receive(session, { metadata, spec });
  expect(outcome).toBe('updated');
  expect(after.history.present).toMatchObject({ spec, pins: pinned.pins });
});

test('pins of two people are merged by node', () => {
  const mine = withPin(pinned, 'last', pin('mine'));
  const theirs = withoutPin(withPin(pinned, 'last', pin('theirs')), 'sum');
  expect(mergeDrafts(pinned, mine, theirs)?.pins).toEqual({ ask: pin('a'), last: pin('mine') });
});

const LAST = new Map<string, LastResult>([
  ['ask', { text_content: 'older', data_content: 1 }],
  ['inner', { text_content: 'in', data_content: null, truncated: true }],
]);

test('a run of one node has the pinned or last complete outputs of all before it, also in bodies', () => {
  expect(mocksBefore(pinned, 'last', LAST, COMPUTING)).toEqual({
    mocks: [
      { node: 'ask', output: pin('a') },
      { node: 'sum', output: pin('s') },
    ],
    executed: ['inner'],
  });
  expect(mocksBefore(draft, 'inner', LAST, COMPUTING).mocks).toEqual([
    { node: 'ask', output: { text_content: 'older', data_content: 1 } },
  ]);
  expect(mocksBefore(pinned, 'ask', LAST, COMPUTING)).toEqual({ mocks: [], executed: [] });
});

test('the complete outputs of a run are pinned, with its event', () => {
  const {
    pinned: names,
    skipped,
    ...found
  } = withRunPinned(
    draft,
    [
      { id: 'trigger', output: { data_content: { n: 1 } } },
      { id: 'ask', output: { text_content: 'hi' } },
      { id: 'sum', output: pin('s') },
      { id: 'inner', output: pin('i'), truncated: true },
      { id: 'last' },
      { id: 'gone', output: pin('g') },
    ],
    COMPUTING,
  );
  expect({ names, skipped }).toEqual({ names: ['trigger', 'ask'], skipped: ['inner'] });
  expect(found.draft.pins).toEqual({
    trigger: { text_content: '', data_content: { n: 1 } },
    ask: { text_content: 'hi', data_content: null },
  });
});

test.each([
  ['{', 'Invalid JSON'],
  ['[]', 'An output is an object'],
  ['{"text_content":1}', 'An output is an object'],
  ['{"data":1}', 'An output is an object'],
])('%s is no output', (text, says) => {
  expect(readPin(text)).toEqual({ message: expect.stringContaining(says) as string });
});

test('what a node may refer to is the pin of a node, also where its last run failed or there was none', () => {
  const last = new Map<string, LastResult>([
    ['ask', { text_content: 'before', data_content: null }],
    ['call', { error: { reason: 'Timeout', message: 'no answer' } }],
  ]);
  const both = withPinnedOutputs(last, { pins: { call: pin('pinned'), later: pin('too') } });
  expect([...both]).toEqual([
    ['ask', { text_content: 'before', data_content: null }],
    ['call', pin('pinned')],
    ['later', pin('too')],
  ]);
  expect(withPinnedOutputs(last, {})).toBe(last);
});

test('a written output is read', () => {
  expect(readPin('{"data_content":[1]}')).toEqual({ pin: { text_content: '', data_content: [1] } });
});

test('pins beyond the limits of a test run are refused with the numbers', () => {
  const large = { text_content: 'ä'.repeat(33_000), data_content: null };
  expect(pinProblem(pinned, 'last', large)).toMatch(/can have 64 KiB, and that of last has 65 KiB/);
  expect(pinProblem(pinned, 'last', pin('x'))).toBeUndefined();
  const five = ['a', 'b', 'c', 'd', 'e'].map((node) => ({ node, output: pin('x'.repeat(30_000)) }));
  const nodes = [{ id: 'a', displayName: 'Ask the model' }];
  const tooLarge = [{ node: 'a', output: pin('x'.repeat(70_000)) }];
  expect(mocksProblem(tooLarge, nodes)).toMatch(
    /^An output .* 64 KiB, and that of Ask the model has 137 KiB/,
  );
  expect(mocksProblem(five.slice(1))).toBeUndefined();
  expect(mocksProblem(five)).toMatch(/256 KiB together, and these have 294 KiB/);
  const many = Array.from({ length: 65 }, (_, index) => ({ node: `n${index}`, output: {} }));
  expect(mocksProblem(many)).toMatch(/64 nodes, not of 65/);
});
