import { expect, test } from 'vitest';
import { eventText } from './events.ts';

test('an event is one block whatever its text holds', () => {
  const block = eventText({ id: '1-0', type: 'text', node: 'agent_1', text: 'a\n\ndata: b\r', at: 5 });
  expect(block).toBe('id: 1-0\nevent: text\ndata: {"node":"agent_1","text":"a\\n\\ndata: b\\r","at":5}\n\n');
});
