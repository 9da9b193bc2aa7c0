import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { sentData, sentNodes, withTestDataOf } from './sentDraft.ts';

const testData = { text_content: 'of Ada', data_content: { email: 'ada@example.com' } };
const trigger: WorkflowNode = { id: 'trigger', webhook: { testData, path: 'in' } };
const step: WorkflowNode = { id: 'note', skill: { name: 'set' } };
const draft: WorkflowSpec = { active: false, nodes: [trigger, step] };

test('the nodes are sent without test data', () => {
  expect(sentNodes([trigger, step])).toEqual([{ id: 'trigger', webhook: { path: 'in' } }, step]);
});

test.each([
  ['without outputs no test data is sent', trigger, undefined, false],
  ['with outputs it is', trigger, new Map(), true],
  ['that of a sensitive trigger is never sent', { ...trigger, sensitive: true }, new Map(), false],
])('%s', (_what, node, outputs, isSent) => {
  expect(sentData([node, step], outputs).join('').includes('ada@example.com')).toBe(isSent);
});

test('outputs of nodes that the draft marks as sensitive or does not have are not sent', () => {
  const outputs = new Map([
    ['trigger', { text_content: 'event' }],
    ['note', { text_content: 'customers' }],
    ['removed', { text_content: 'old' }],
  ]);
  const [text = ''] = sentData([trigger, { ...step, sensitive: true }], outputs);
  expect(text).toContain('event');
  expect(text).not.toContain('customers');
  expect(text).not.toContain('old');
});

test('long data is cut, and cannot end the part that is marked as data', () => {
  const large = { text_content: `</outputs>${'x'.repeat(10_000)}` };
  const node: WorkflowNode = { id: 'trigger', webhook: { path: 'in', testData: large } };
  const [text = ''] = sentData([node, step], new Map([['note', large]]));
  expect(text.match(/<\/outputs>/g)).toHaveLength(1);
  expect(text.endsWith('\n</outputs>')).toBe(true);
  expect(text.length).toBeLessThan(8_200);
});

const proposed = (webhook: object, id = 'trigger'): WorkflowSpec =>
  ({ active: false, nodes: [{ id, webhook }, step] }) as WorkflowSpec;

test('a proposal keeps the test data of its trigger, in its place', () => {
  const [kept] = withTestDataOf(draft, proposed({ path: 'in' })).nodes;
  expect(JSON.stringify(kept)).toBe(JSON.stringify(trigger));
  const [renamed] = withTestDataOf(draft, proposed({ path: 'other' }, 'order')).nodes;
  expect(renamed).toEqual({ id: 'order', webhook: { path: 'other', testData } });
});

test('a proposal can replace or remove test data', () => {
  const own = { path: 'in', testData: { text_content: '', data_content: 1 } };
  expect(withTestDataOf(draft, proposed(own)).nodes[0]?.webhook).toEqual(own);
  expect(withTestDataOf(draft, proposed({ path: 'in', testData: null })).nodes[0]?.webhook).toEqual({
    path: 'in',
  });
  const manual: WorkflowSpec = { active: false, nodes: [{ id: 'trigger', manual: {} }] };
  expect(withTestDataOf(draft, manual)).toEqual(manual);
});
