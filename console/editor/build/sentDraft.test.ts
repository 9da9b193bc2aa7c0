import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { sentNodes, withTestDataOf } from './sentDraft.ts';

const testData = { text_content: 'of Ada', data_content: { email: 'ada@example.com' } };
const trigger: WorkflowNode = { id: 'trigger', webhook: { path: 'in', testData } };
const step: WorkflowNode = { id: 'note', skill: { name: 'set' } };

const NOT_SENT = { sendsOutputs: false };

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
  expect(withTestDataOf(draft, proposed({ path: 'other' }), NOT_SENT).nodes[0]?.webhook).toEqual({
    path: 'other',
    testData,
  });
  const own = { path: 'in', testData: { text_content: '', data_content: 1 } };
  expect(withTestDataOf(draft, proposed(own), NOT_SENT).nodes[0]?.webhook).toEqual(own);
  // What was sent, a model may remove.
  const removed = withTestDataOf(draft, proposed({ path: 'in' }), { sendsOutputs: true });
  expect(removed.nodes[0]?.webhook).toEqual({ path: 'in' });
  const manual: WorkflowSpec = { active: false, nodes: [{ id: 'trigger', manual: {} }] };
  expect(withTestDataOf(draft, manual, NOT_SENT)).toEqual(manual);
});
