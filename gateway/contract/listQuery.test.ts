import { expect, test } from 'vitest';
import { positionToken, readListQuery } from './listQuery.ts';

const position = { at: 1_763_715_600_004_123, run: 'orders-0mwqi7su7bpbv30' };

test('a page is told by its size, a phase and the token of the page before', () => {
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
])('%j is no query', (query) => {
  expect(readListQuery(query)).toBeUndefined();
});
