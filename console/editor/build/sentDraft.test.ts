import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { sentNodes, withTestDataOf } from './sentDraft.ts';

const testData = { text_content: 'of Ada', data_content: { email: 'ada@example.com' } };
const trigger: WorkflowNode = { id: 'trigger', webhook: { path: 'in', testData } };
const step: WorkflowNode = { id: 'note', skill: { name: 'set' } };

test.each([
  ['without outputs no test data is sent', trigger, false, false],
  ['with outputs it is', trigger, true, true],
  ['that of a sensitive trigger is never sent', { ...trigger, sensitive: true }, true, false],
])('%s', (_what, node, sendsOutputs, isSent) => {
  const sent = sentNodes([node, step], { sendsOutputs });
  expect(JSON.stringify(sent).includes('ada@example.com')).toBe(isSent);
  expect(sent[0]?.webhook?.path).toBe('in');
  expect(sent[1]).toEqual(step);
});

test('a proposal keeps the test data of its trigger, unless it has some of its own', () => {
  const draft: WorkflowSpec = { active: false, nodes: [trigger, step] };
  const proposed = (webhook: object): WorkflowSpec =>
    ({ active: false, nodes: [{ id: 'trigger', webhook }, step] }) as WorkflowSpec;
  expect(withTestDataOf(draft, proposed({ path: 'other' })).nodes[0]?.webhook).toEqual({
    path: 'other',
    testData,
  });
  const own = { path: 'in', testData: { text_content: '', data_content: 1 } };
  expect(withTestDataOf(draft, proposed(own)).nodes[0]?.webhook).toEqual(own);
  const manual: WorkflowSpec = { active: false, nodes: [{ id: 'trigger', manual: {} }] };
  expect(withTestDataOf(draft, manual)).toEqual(manual);
});
