/** What is missing in a draft, at its places. */
import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { fieldsOf } from '../../forms/fields.ts';
import { incompleteProblems } from './incomplete.ts';
import type { FilledField } from './nodeFields.ts';

const WEBHOOK = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    auth: { type: 'object', properties: { header: { type: 'string' } }, required: ['header'] },
  },
  required: ['path'],
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
    ['trigger', 'webhook.auth.header', 'Header is required.'],
  ]);
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
