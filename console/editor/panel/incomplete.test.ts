/** What is missing in a draft, at its places. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { fieldsOf } from '../../forms/fields.ts';
import { incompleteProblems } from './incomplete.ts';
import type { FilledField } from './nodeFields.ts';

const WEBHOOK = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    note: { type: 'string' },
    auth: { type: 'object', properties: { header: { type: 'string' } }, required: ['header'] },
    dedupe: {
      type: 'object',
      properties: {
        header: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        bodyPath: { type: 'string' },
        ttl: { type: 'string', pattern: '^[0-9]+s$' },
      },
      required: ['ttl'],
      'x-kubernetes-validations': [{ rule: 'has(self.header) != has(self.bodyPath)', message: 'one of two' }],
    },
  },
  required: ['path', 'note'],
};

function fields({ webhook }: WorkflowNode): FilledField[] {
  const values: Record<string, unknown> = { ...webhook };
  return webhook === undefined
    ? []
    : fieldsOf(WEBHOOK, { path: 'webhook' }).map((field) => ({
        field,
        path: `webhook.${field.name}`,
        value: values[field.name],
      }));
}

const placesIn = (nodes: object[], edges?: { from: string; to: string }[]) =>
  incompleteProblems({ active: true, nodes: nodes as WorkflowNode[], ...(edges && { edges }) }, fields).map(
    ({ place, problem }) => [place.node, problem.field, problem.message],
  );

test('a missing field is at its path, also in an object', () => {
  expect(placesIn([{ id: 'trigger', webhook: { auth: {} } }])).toEqual([
    ['trigger', 'webhook.path', 'Path is required.'],
    ['trigger', 'webhook.note', 'Note is required.'],
    ['trigger', 'webhook.auth.header', 'Header is required.'],
  ]);
});

test('an empty text is missing where the schema refuses it', () => {
  expect(placesIn([{ id: 'trigger', webhook: { path: '', note: '' } }])).toEqual([
    ['trigger', 'webhook.path', 'Path is required.'],
  ]);
});

test('of several options, the chosen one and what all share must be complete', () => {
  const missingIn = (dedupe: object) =>
    placesIn([{ id: 'trigger', webhook: { path: 'a', note: '', dedupe } }]).map(([, field]) => field);
  expect(missingIn({ header: {}, ttl: '' })).toEqual(['webhook.dedupe.header.name', 'webhook.dedupe.ttl']);
  expect(missingIn({ bodyPath: '$.id', ttl: '5s' })).toEqual([]);
});

test('a disabled node may lack anything', () => {
  expect(placesIn([{ id: 'trigger', webhook: {}, disabled: true }])).toEqual([]);
});

test('a node that no connection leads to, and an empty group, are incomplete as a whole', () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'loop', group: {} },
    { id: 'reply', response: {} },
  ];
  expect(placesIn(nodes, [{ from: 'trigger', to: 'loop' }])).toEqual([
    ['reply', '', 'No connection leads to this node.'],
    ['loop', '', 'The group is empty: add a node to it.'],
  ]);
});
