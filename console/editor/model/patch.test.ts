import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { draftOf } from './annotation.ts';
import { moveNodes, removeNodes, updateSettings, type Draft } from './model.ts';
import { patchOf, rebaseDraft } from './patch.ts';

const nodes: WorkflowNode[] = [
  { id: 'trigger', manual: {} },
  { id: 'reply', response: { body: 1 } },
];
const saved = draftOf({ metadata: { name: 'orders' }, spec: { active: false, nodes } });
const renamed = (draft: Draft, displayName: string) => updateSettings(draft, { displayName });
const moved = moveNodes(saved, { reply: { x: 500, y: 90 } });

test('without changes nothing is sent', () => {
  expect(patchOf(saved, saved)).toBeUndefined();
  expect(patchOf(saved, { ...saved, spec: { ...saved.spec } })).toBeUndefined();
});

test('only changed fields are sent', () => {
  expect(patchOf(saved, renamed(saved, 'Orders'))).toEqual({ spec: { displayName: 'Orders' } });
});

test('positions are stored in an annotation, unless they are automatic', () => {
  const annotations = { 'windlass.dev/positions': '{"trigger":[0,0],"reply":[500,90]}' };
  expect(patchOf(saved, moved)).toEqual({ metadata: { annotations } });
  expect(patchOf(moved, saved)).toEqual({ metadata: { annotations: { 'windlass.dev/positions': null } } });
});

test('changes of different fields are merged', () => {
  const theirs = updateSettings(saved, { active: true });
  expect(rebaseDraft(saved, renamed(saved, 'Mine'), theirs)?.spec).toEqual({
    active: true,
    displayName: 'Mine',
    nodes,
  });
});

test('a removed node leaves no position', () => {
  const joined = rebaseDraft(saved, removeNodes(saved, ['reply']), updateSettings(saved, { active: true }));
  expect(Object.keys(joined?.positions ?? {})).toEqual(['trigger']);
});

test('changes of the same field conflict', () => {
  expect(rebaseDraft(saved, renamed(saved, 'Mine'), renamed(saved, 'Theirs'))).toBeUndefined();
});

test('changes of nodes and of edges conflict', () => {
  const mine = { ...saved, spec: { ...saved.spec, nodes: nodes.slice(0, 1) } };
  const theirs = { ...saved, spec: { ...saved.spec, edges: [] } };
  expect(rebaseDraft(saved, mine, theirs)).toBeUndefined();
});
