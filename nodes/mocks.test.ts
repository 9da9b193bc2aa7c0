import { expect, test } from 'vitest';
import type { Mock } from '../api/mock.ts';
import { revisionOf } from '../api/revision.ts';
import type { WorkflowNode } from '../api/workflow.ts';
import { testingProblem } from './mocks.ts';

const call: WorkflowNode = { id: 'call', skill: { name: 'http_request', parameters: {} } };
const ask: WorkflowNode = { id: 'ask', agent: { credential: 'llm', model: 'm', prompt: 'p' } };
const problemOf = (nodes: WorkflowNode[], mock: Mock) =>
  testingProblem(
    { mocks: [mock] },
    'orders',
    revisionOf({ active: false, nodes: [{ id: 'trigger', manual: {} }, ...nodes] }),
  );

test.each<[string, WorkflowNode[], Mock]>([
  ['a step', [{ ...call, disabled: true }], { node: 'call', output: {} }],
  ['a tool of an agent', [{ ...ask, disabled: true }], { node: 'ask', tool: 'search', output: {} }],
])('a mock of %s that is disabled has no effect', (_what, nodes, mock) => {
  expect(problemOf(nodes, mock)).toBeUndefined();
});

test.each<[string, WorkflowNode[], Mock, RegExp]>([
  ['a step that does not exist', [call], { node: 'cal', output: {} }, /has no step cal/],
  [
    'a step of a disabled group',
    [
      { id: 'box', group: {}, disabled: true },
      { ...call, within: 'box' },
    ],
    { node: 'call', output: {} },
    /If it is in a disabled group, it is not executed: remove the mock/,
  ],
  ['a response', [{ id: 'reply', response: {} }], { node: 'reply', output: {} }, /reply is of kind response/],
  [
    'more than 64 KiB',
    [call],
    { node: 'call', output: { text_content: 'x'.repeat(70_000) } },
    /^spec\.mocks\[0\] is larger than 64 KiB/,
  ],
  ['a tool that does not exist', [ask], { node: 'ask', tool: 'search', output: {} }, /has no tool search/],
])('a mock of %s is refused', (_what, nodes, mock, problem) => {
  expect(problemOf(nodes, mock)).toMatch(problem);
});
