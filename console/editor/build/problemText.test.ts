import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { problemText } from './problemText.ts';

const nodes: WorkflowNode[] = [
  { id: 'trigger', manual: {} },
  { id: 'mail', displayName: 'Send the mail', skill: { name: 'send_email' } },
];

test.each([
  ['nodes[1].skill.cc is not a field of a workflow.', 'Send the mail (mail) has no field skill.cc.'],
  ['nodes[7].skill.cc is not a field of a workflow.', 'nodes[7].skill.cc is not a field of a workflow.'],
  ['mail: To is required.', 'Send the mail (mail): To is required.'],
  ['trigger → mail: unknown name', 'trigger → Send the mail (mail): unknown name'],
  ['gone: To is required.', 'gone: To is required.'],
  ['A chat needs an answer.', 'A chat needs an answer.'],
])('%s is shown as %s', (problem, text) => {
  expect(problemText(problem, { nodes })).toBe(text);
});
