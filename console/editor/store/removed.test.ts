import { expect, test } from 'vitest';
import { withoutRemoved } from './removed.ts';
import type { Draft } from '../model/model.ts';
import type { EditorState } from './store.ts';

const set = (id: string) => ({ id, skill: { name: 'set', parameters: { values: { n: '1' } } } });
const draft: Draft = {
  spec: { active: false, nodes: [{ id: 'trigger', manual: {} }, set('one'), set('two')] },
  positions: {},
};
const NOTHING = { selection: { nodes: [], edges: [] }, panel: undefined, picker: undefined };
const there = { from: 'one', to: 'two' };
const gone = { from: 'trigger', to: 'two' };

test.each<[string, Partial<EditorState>, Partial<EditorState>]>([
  ['the panel of a node that is there stays open', { panel: { node: 'one' } }, { panel: { node: 'one' } }],
  ['that of one that is gone is closed', { panel: { node: 'three' } }, {}],
  ['the panel of a line that is there stays open', { panel: { edge: there } }, { panel: { edge: there } }],
  ['that of a line that is gone is closed, though both ends are there', { panel: { edge: gone } }, {}],
  ['nothing can come behind a node that is gone', { picker: { kind: 'after', node: 'three' } }, {}],
  ['nor into a line that is gone', { picker: { kind: 'between', edge: gone } }, {}],
  [
    'of what is selected, what is there stays selected',
    { selection: { nodes: ['three', 'one'], edges: ['one>two', 'trigger>two'] } },
    { selection: { nodes: ['one'], edges: ['one>two'] } },
  ],
])('%s', (_what, shown, left) => {
  expect(withoutRemoved({ ...NOTHING, ...shown }, draft)).toEqual({ ...NOTHING, ...left });
});

test('a selection without removed elements keeps its object', () => {
  const selection = { nodes: ['one'], edges: [] };
  expect(withoutRemoved({ ...NOTHING, selection }, draft).selection).toBe(selection);
});
