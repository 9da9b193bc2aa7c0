import { expect, test } from 'vitest';
import { readExecuteQuery, positionToken, readListQuery, preferredWait } from './queries.ts';

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

const position = { at: 1_763_715_600_004_123, run: 'orders-0mwqi7su7bpbv30' };

test('a list query has a size, a phase and the token of the previous page', () => {
  expect(readListQuery({})).toEqual({ limit: 50 });
  const query = { limit: '500', phase: 'Failed', continue: positionToken(position), other: 'x' };
  expect(readListQuery(query)).toEqual({ limit: 500, phase: 'Failed', after: position });
});

test.each([
  [{ limit: '0' }],
  [{ limit: '501' }],
  [{ limit: '1e2' }],
  [{ limit: ['1', '2'] }],
  [{ phase: 'failed' }],
  [{ phase: '' }],
  [{ phase: ['Failed', 'Succeeded'] }],
  [{ continue: '' }],
  [{ continue: 'nonsense' }],
  [{ continue: `${positionToken(position)}A` }],
  [{ continue: positionToken({ ...position, run: '../secrets' }) }],
  [{ continue: positionToken({ ...position, at: -1 }) }],
  [{ continue: Buffer.from('1 99999999999999999 orders').toString('base64url') }],
])('%j is an invalid query', (query) => {
  expect(readListQuery(query)).toBeUndefined();
});

test.each([
  ['wait=30', 30],
  ['respond-async, wait=5', 5],
  ['Wait = "7"; x=1', 7],
  ['wait=100000', 300],
])('"%s" waits for %i s', (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds);
});

test.each([
  undefined,
  '',
  'respond-async',
  'wait',
  'wait=',
  'wait=-1',
  'wait=0',
  'wait=1.5',
  'wait=abc',
  'await=5',
])('"%s" does not wait', (header) => {
  expect(preferredWait(header)).toBeUndefined();
});
