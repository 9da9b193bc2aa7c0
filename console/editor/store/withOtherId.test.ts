import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { EditorState } from './store.ts';
import { withOtherId } from './withOtherId.ts';

const specOf = (...ids: string[]): WorkflowSpec => ({
  active: false,
  nodes: ids.map((id) => ({ id, skill: { name: 'set' } })),
});
const before = specOf('trigger', 'total', 'mail');

test.each<[string, WorkflowSpec, EditorState['panel'], EditorState['panel']]>([
  ['has its old ID again', specOf('trigger', 'sum', 'mail'), { node: 'total' }, { node: 'sum' }],
  ['is another one than that', specOf('trigger', 'sum', 'mail'), { node: 'mail' }, { node: 'mail' }],
  ['is removed', specOf('trigger', 'mail'), { node: 'total' }, { node: 'total' }],
  ['is replaced, with another one', specOf('trigger', 'a', 'b'), { node: 'total' }, { node: 'total' }],
  ['is not open', specOf('trigger', 'sum', 'mail'), undefined, undefined],
])('the panel of a node that %s', (_what, now, panel, shown) => {
  const selection = { nodes: ['total'], edges: [] };
  expect(withOtherId({ selection, panel }, before, now).panel).toEqual(shown);
});

test('a node stays selected under its other ID', () => {
  const selection = { nodes: ['mail', 'total'], edges: [] };
  const { selection: now } = withOtherId(
    { selection, panel: undefined },
    before,
    specOf('trigger', 'sum', 'mail'),
  );
  expect(now.nodes).toEqual(['mail', 'sum']);
});
