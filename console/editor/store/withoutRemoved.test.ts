import { expect, test } from 'vitest';
import { withoutRemoved } from './withoutRemoved.ts';
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
  ['the panel of an existing node stays open', { panel: { node: 'one' } }, { panel: { node: 'one' } }],
  ['the panel of a removed node is closed', { panel: { node: 'three' } }, {}],
  ['the settings stay open', { panel: { setting: '' } }, { panel: { setting: '' } }],
  ['the panel of an existing edge stays open', { panel: { edge: there } }, { panel: { edge: there } }],
  ['the panel of a removed edge is closed, although both nodes exist', { panel: { edge: gone } }, {}],
  ['the picker after a removed node is closed', { picker: { kind: 'after', node: 'three' } }, {}],
  ['the picker on a removed edge is closed', { picker: { kind: 'between', edge: gone } }, {}],
  [
    'existing nodes and edges stay selected',
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
