import { expect, test } from 'vitest';
import { named, nodeNamesOf } from './nodeNames.ts';

const others = [{ id: 'a' }, { id: 'b', displayName: '' }, { id: 'c', displayName: 'c' }, null, 'd', [5]];
const names = nodeNamesOf([{ id: 'agent_1', displayName: 'Write the reply' }, ...others]);

test('display names are found by ID; an empty one, one like the ID, and what is no node have none', () => {
  expect([...names]).toEqual([['agent_1', 'Write the reply']]);
});

test('a name is short, shows hidden characters, and has the ID where another node has it', () => {
  const hidden = nodeNamesOf([{ id: 'a', displayName: 'Pay\u202e' }]);
  expect(named(hidden, 'a')).toBe('Pay[U+202E]');
  expect(named(nodeNamesOf([{ id: 'a', displayName: 'x'.repeat(250) }]), 'a')).toBe(`${'x'.repeat(60)}…`);
  const equal = nodeNamesOf([
    { id: 'a', displayName: 'Ask' },
    { id: 'b', displayName: 'Ask' },
  ]);
  expect(named(equal, 'b')).toBe('Ask (b)');
});

test.each([
  ['agent_1', 'Write the reply'],
  ['a', 'a'],
  ['gone', 'gone'],
])('%s is named %s', (id, name) => {
  expect(named(names, id)).toBe(name);
});
