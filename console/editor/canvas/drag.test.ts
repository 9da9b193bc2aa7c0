import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { hoveredGroup, placesOf } from './drag.ts';

const set = { name: 'set', parameters: {} };
const plain: WorkflowNode[] = [
  { id: 'a', skill: set },
  { id: 'b', skill: set },
];
const grouped: WorkflowNode[] = [
  { id: 'group', group: {} },
  { id: 'inner', within: 'group', skill: set },
  { id: 'b', skill: set },
];

const stateOf = (nodes: WorkflowNode[], positions: Record<string, { x: number; y: number }>) => ({
  draft: { spec: { active: false, nodes }, positions },
  collapsed: new Set<string>(),
});

test('a dragged node is at whole pixels, and the others stay', () => {
  const state = stateOf(plain, { a: { x: 0, y: 0 }, b: { x: 300, y: 0 } });
  expect(placesOf(state, [{ id: 'a', position: { x: 10.4, y: 20.6 } }])).toEqual({ a: { x: 10, y: 21 } });
  expect(hoveredGroup(state, [{ id: 'a', position: { x: 300, y: 0 } }])).toBeUndefined();
});

test('the body of a dragged group moves as far as the group', () => {
  const state = stateOf(grouped, { inner: { x: 100, y: 100 }, b: { x: 800, y: 0 } });
  const before = placesOf(state, [{ id: 'group', position: { x: 0, y: 0 } }]);
  const after = placesOf(state, [{ id: 'group', position: { x: 50, y: 20 } }]);
  expect(after['inner']).toEqual({ x: (before['inner']?.x ?? 0) + 50, y: (before['inner']?.y ?? 0) + 20 });
  expect(Object.keys(after).toSorted()).toEqual(['group', 'inner']);
});

test('a node in the frame of a group would be dropped into it', () => {
  const state = stateOf(grouped, { inner: { x: 100, y: 100 }, b: { x: 800, y: 0 } });
  expect(hoveredGroup(state, [{ id: 'b', position: { x: 100, y: 100 } }])).toBe('group');
  expect(hoveredGroup(state, [{ id: 'b', position: { x: 900, y: 0 } }])).toBeUndefined();
});
