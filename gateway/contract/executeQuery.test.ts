import { expect, test } from 'vitest';
import { readExecuteQuery } from './executeQuery.ts';

test.each([
  ['nothing', {}, { test: false }],
  ['no test', { test: 'false' }, { test: false }],
  ['a test', { test: 'true' }, { test: true }],
  ['a test as far as a node', { test: 'true', until: 'agent_1' }, { test: true, until: 'agent_1' }],
  ['a test with a whole output', { test: 'true', as: 'output' }, { test: true, isOutput: true }],
  ['a test with data, as always', { test: 'true', as: 'data' }, { test: true }],
  ['a whole output, and no test', { as: 'output' }, undefined],
  ['a body that is neither', { test: 'true', as: 'text' }, undefined],
  ['what nobody knows', { test: 'true', more: '1' }, { test: true }],
  ['a test that is neither', { test: 'yes' }, undefined],
  ['two answers', { test: ['true', 'false'] }, undefined],
  ['a node, and no test', { until: 'agent_1' }, undefined],
  ['a node, and expressly no test', { test: 'false', until: 'agent_1' }, undefined],
  ['no id of a node', { test: 'true', until: '1 or 2' }, undefined],
  ['an empty id', { test: 'true', until: '' }, undefined],
  ['two nodes', { test: 'true', until: ['a', 'b'] }, undefined],
])('a query with %s', (_what, query, read) => {
  expect(readExecuteQuery(query)).toEqual(read);
});
