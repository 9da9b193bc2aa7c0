import { expect, test } from 'vitest';
import { named, nodeNamesOf } from './nodeNames.ts';

const others = [{ id: 'a' }, { id: 'b', displayName: '' }, { id: 'c', displayName: 'c' }, null, 'd', [5]];
const names = nodeNamesOf([{ id: 'agent_1', displayName: 'Write the reply' }, ...others]);

test('display names are found by ID; an empty one, one like the ID, and what is no node have none', () => {
  expect([...names]).toEqual([['agent_1', 'Write the reply']]);
});

test.each([
  ['agent_1', 'Write the reply'],
  ['a', 'a'],
  ['gone', 'gone'],
])('%s is named %s', (id, name) => {
  expect(named(names, id)).toBe(name);
});
