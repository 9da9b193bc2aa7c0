import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { answeringNode, answerText, eventOf, isConversation } from './chat.ts';

const nodes = (...list: object[]) => list as WorkflowNode[];
const agent = (id: string) => ({ id, agent: { credential: 'llm', model: 'm', prompt: 'p' } });
const message = { text: 'Hi', id: 'm', session: 's' };

test('workflows with a chat or an agent can be tested as a conversation', () => {
  expect(isConversation({ nodes: nodes({ id: 't', chat: {} }) })).toBe(true);
  expect(isConversation({ nodes: nodes({ id: 't', manual: {} }, agent('a')) })).toBe(true);
  expect(isConversation({ nodes: nodes({ id: 't', manual: {} }) })).toBe(false);
});

test.each([
  ['chat', { text_content: 'Hi', data_content: { session: 's', message: 'Hi', id: 'm' } }],
  ['manual', { session: 's', message: 'Hi', id: 'm' }],
  ['webhook', { text_content: 'Hi', data_content: expect.anything() }],
])('the event of a %s trigger has the message', (kind, event) =>
  expect(eventOf({ id: 't', [kind]: {} }, message)).toEqual(event),
);

test('the node that answers is that of the chat, or the last agent', () => {
  const chat = { id: 't', chat: { access: 'Public' } };
  expect(answeringNode({ nodes: nodes(chat, agent('a')) })).toBe('a');
  expect(answeringNode({ nodes: nodes(chat, agent('a'), { id: 'r', response: {} }) })).toBe('r');
  expect(answeringNode({ nodes: nodes({ id: 't', manual: {} }, agent('a'), agent('b')) })).toBe('b');
  expect(answeringNode({ nodes: nodes({ id: 't', manual: {} }) })).toBeUndefined();
});

test('the answer is the text of the node, or the body of a response', () => {
  const output = { text_content: 'Answered.', data_content: { body: { ok: true } } };
  expect(answerText({ output }, false)).toBe('Answered.');
  expect(answerText({ output }, true)).toBe('{\n  "ok": true\n}');
  expect(answerText({ output: { ...output, data_content: { body: 'Hi' } } }, true)).toBe('Hi');
});

test('of a long answer the beginning is shown', () => {
  const text = answerText({ output: { text_content: '# a\n'.repeat(250_000), data_content: null } }, false);
  expect(text.length).toBeLessThan(20_200);
  expect(text).toMatch(/…\n\nThis is the beginning\. Open the run to see all 1,000,000 characters\.$/);
});

test('the beginning of a long answer ends with a whole character', () => {
  const text = answerText({ output: { text_content: `a${'😀'.repeat(20_000)}`, data_content: null } }, false);
  expect(text.isWellFormed()).toBe(true);
  expect(text).toMatch(/^a(?:😀)+…/u);
});
