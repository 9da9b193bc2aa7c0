import { expect, test } from 'vitest';
import { missingMemoryKey } from './chatMemory.ts';

const chat = { id: 'start', chat: { access: 'Public' as const } };
const agent = { id: 'a', agent: { credential: 'model', model: 'demo', prompt: 'Hello' } };
const memory = { key: 'x' };

test.each([
  [[chat, agent], "{{ $('start').data_content.session }}"],
  [[chat, { ...agent, agent: { ...agent.agent, memory } }], undefined],
  [[{ id: 'start', manual: {} }, agent], undefined],
  [[chat, { id: 'a', response: { body: '' } }], undefined],
])('the node a of %j lacks a memory with the key %s', (nodes, key) => {
  expect(missingMemoryKey(nodes, 'a')).toBe(key);
});
