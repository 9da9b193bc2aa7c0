import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { newNode } from './newNode.ts';

const items = (node: WorkflowNode, last?: unknown) => {
  const draft = { spec: { active: false, nodes: [node] }, positions: {} };
  const outputs = new Map(last === undefined ? [] : [[node.id, { data_content: last }]]);
  return newNode(draft, { kind: 'forEach' }, [], { after: node.id, outputs }).forEach?.items;
};
const webhook = (data?: unknown): WorkflowNode => ({
  id: 'trigger',
  webhook: { path: 'orders', ...(data !== undefined && { testData: { data_content: data } }) },
});
const rows = [{ n: 1 }];

test.each([
  ['the first list of objects', webhook({ tags: ['a'], order: { items: rows } }), '.order.items'],
  ['a list of values, where there is no other', webhook({ note: 'x', tags: ['a'] }), '.tags'],
  ['the data, if they are the list', webhook(rows), ''],
  ['a key that is no name', webhook({ 'my rows': rows }), "['my rows']"],
  ['the attachments of a mail', { id: 'trigger', mail: { credential: 'm' } }, '.attachments'],
  ['the results of a loop', { id: 'trigger', group: {}, forEach: { items: '' } }, ''],
])('a new loop begins with %s', (_what, node, path) => {
  expect(items(node)).toBe(`{{ $('trigger').data_content${path} }}`);
});

test('the last output counts more than the test data', () => {
  expect(items(webhook({ a: rows }), { b: rows })).toBe("{{ $('trigger').data_content.b }}");
});

test.each([
  ['the data hold no list', webhook({ name: 'Ada' })],
  ['the data are unknown', webhook()],
])('a new loop has no items where %s', (_why, node) => {
  expect(items(node)).toBe('');
});

test('a node after a disabled one begins with the output of the node before that', () => {
  const nodes = [webhook(), { id: 'off', disabled: true, wait: { duration: '1m' } }];
  const draft = { spec: { active: false, nodes }, positions: {} };
  const { response } = newNode(draft, { kind: 'response' }, [], { after: 'off' });
  expect(response?.body).toBe("{{ $('trigger').data_content }}");
});

test.each([
  ['with the body of the response of one request', {}, '.body'],
  ['with all responses of a loop', { forEach: { items: "{{ $('trigger').data_content }}" } }, ''],
])('a response after an HTTP request begins %s', (_what, loop, member) => {
  const skill = { name: 'http_request', parameters: {} };
  const draft = { spec: { active: false, nodes: [webhook(), { id: 'ask', skill, ...loop }] }, positions: {} };
  const { response } = newNode(draft, { kind: 'response' }, [], { after: 'ask' });
  expect(response?.body).toBe(`{{ $('ask').data_content${member} }}`);
});
