import { describe, expect, test } from 'vitest';
import { chatAnswerOf } from './chatAnswer.ts';
import { revisionOf, scopedNodesOfSpec } from './revision.ts';
import type { WorkflowSpec } from './workflow.ts';

const agent = (id: string, options: object = {}) => ({
  id,
  agent: { credential: 'llm', model: 'm', prompt: 'p' },
  ...options,
});
const skill = (id: string) => ({ id, skill: { name: 'set', parameters: {} } });
const response = { id: 'reply', response: {} };
const chat = (answer?: string) => ({ id: 'trigger', chat: { access: 'Public', ...(answer && { answer }) } });

function specOf(nodes: object[], edges?: object[]): WorkflowSpec {
  return { active: true, nodes, ...(edges && { edges }) } as unknown as WorkflowSpec;
}

function answerOf(nodes: object[], edges?: object[]) {
  const spec = specOf(nodes, edges);
  return chatAnswerOf(spec, scopedNodesOfSpec(spec));
}

const fork = [
  { from: 'trigger', to: 'a' },
  { from: 'trigger', to: 'b' },
];
const onFailure = [
  { from: 'trigger', to: 'a' },
  { from: 'a', to: 'b', after: 'Failure' },
];

describe('the node that answers a chat', () => {
  test.each([
    ['a response node', [chat(), agent('a'), response], undefined, { kind: 'response' }],
    [
      'the response node that answer names',
      [chat('reply'), agent('a'), response],
      undefined,
      { kind: 'response' },
    ],
    ['the only agent', [chat(), agent('a')], undefined, { kind: 'text', node: 'a' }],
    ['the last agent of a chain', [chat(), agent('a'), agent('b')], undefined, { kind: 'text', node: 'b' }],
    [
      'an agent that a node follows only after its failure',
      [chat(), agent('a'), skill('b')],
      onFailure,
      { kind: 'text', node: 'a' },
    ],
    ['one of two agents', [chat('b'), agent('a'), agent('b')], fork, { kind: 'text', node: 'b' }],
    ['a step that is no agent', [chat('b'), agent('a'), skill('b')], undefined, { kind: 'text', node: 'b' }],
    ['an agent before others', [chat('a'), agent('a'), skill('b')], undefined, { kind: 'text', node: 'a' }],
  ])('is %s', (_name, nodes, edges, expected) => expect(answerOf(nodes, edges)).toEqual(expected));

  test.each([
    ['no node can answer', [chat(), agent('a'), skill('b')], undefined, /^nothing answers .*set answer/],
    ['two agents are last', [chat(), agent('a'), agent('b')], fork, /agents a, b could all answer/],
    ['answer names no node', [chat('x'), agent('a')], undefined, /names x, which is no step/],
    ['answer names the trigger', [chat('trigger'), agent('a')], undefined, /trigger, which is no step/],
    [
      'a response answers, too',
      [chat('a'), agent('a'), response],
      undefined,
      /response node reply answers, too/,
    ],
    [
      'the agent has an answer for each item',
      [chat('a'), agent('a', { forEach: { items: '{{ 1 }}' } })],
      undefined,
      /executed for items/,
    ],
  ])('is unknown where %s', (_name, nodes, edges, problem) =>
    expect(answerOf(nodes, edges)).toEqual({ kind: 'problem', problem: expect.stringMatching(problem) }),
  );

  test('does not matter without a chat', () =>
    expect(answerOf([{ id: 'trigger', manual: {} }, agent('a')])).toBeUndefined());

  test('is part of the revision if its text answers', () => {
    expect(revisionOf(specOf([chat(), agent('a')])).answer).toBe('a');
    expect(revisionOf(specOf([chat(), agent('a'), response]))).not.toHaveProperty('answer');
  });
});
