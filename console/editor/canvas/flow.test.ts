import { expect, test } from 'vitest';
import { flowNodes } from './flow.ts';

const nodes = [
  { id: 'trigger', manual: {} },
  { id: 'one', skill: { name: 'set', parameters: { values: { n: '1' } } } },
];
const shown = {
  draft: { spec: { active: false, nodes }, positions: {} },
  selection: { nodes: [], edges: [] },
  problems: { nodes: new Map(), edges: new Map(), workflow: [] },
  isReadOnly: false,
  collapsed: new Set<string>(),
};

test.each([
  [true, 'waits for its turn while the run goes on'],
  [false, 'has nothing to say when the run is over'],
])('a node without information about it (run unfinished: %s) %s', (isUnfinished) => {
  const drawn = flowNodes({ ...shown, views: new Map(), isUnfinished }, []);
  expect(drawn.map(({ data }) => data.isInRun)).toEqual([isUnfinished, isUnfinished]);
});
