import { expect, test } from 'vitest';
import { conditionPrompt, readCondition } from './conditionPrompt.ts';

test.each([
  ['{"when": "nodes.a.data_content.total > 100.0"}', { when: 'nodes.a.data_content.total > 100.0' }],
  ['Sure:\n```json\n{"when": " run.test "}\n```', { when: 'run.test' }],
  ['nodes.a.data_content.total > 100.0', { refusal: expect.stringContaining('no condition') as string }],
  ['{"when": 7}', { refusal: expect.stringContaining('no condition') as string }],
  ['{"when": ""}', { refusal: expect.stringContaining('no condition') as string }],
  ['{"when": "a', { refusal: expect.stringContaining('no condition') as string }],
  [JSON.stringify({ when: 'x'.repeat(5_000) }), { refusal: expect.stringContaining('5000') as string }],
  ['x'.repeat(50_000), { refusal: expect.stringContaining('too long') as string }],
])('the answer %s is read', (answer, read) => {
  expect(readCondition(answer)).toEqual(read);
});

test('the model is told the nodes that the condition may name, and outputs of these alone, on request', () => {
  const nodes = [
    { id: 'a', manual: { testData: { from: 'stranger' } } },
    { id: 'b', skill: { name: 'set' } },
    { id: 'c', skill: { name: 'set' } },
  ];
  const input = { text: 'if it is large', spec: { active: false, nodes }, from: 'a', to: 'b', nodes: ['a'] };
  const without = conditionPrompt({ ...input, outputs: undefined }).request;
  expect(without).toContain('[{"id":"a","manual":{}}]');
  expect(without).not.toContain('<outputs>');
  expect(without).not.toContain('stranger');
  const outputs = new Map([
    ['a', { text_content: 'of a' }],
    ['c', { text_content: 'of c' }],
  ]);
  const request = conditionPrompt({ ...input, outputs }).request;
  expect(request).toContain('of a');
  expect(request).toMatch(/<outputs>[^]*stranger[^]*<\/outputs>/);
  expect(request).toContain('[{"id":"a","manual":{}}]');
  expect(request).not.toContain('of c');
});
