import { expect, test } from 'vitest';
import type { Operation } from '../../contract/operation.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { acceptsSession } from './requestSession.ts';

const operations = Object.values<Operation>(OPERATIONS);

test('a session stands for the token of every operation that needs a right, and of no public one', () => {
  const refused = operations.filter(({ right, path }) => right !== undefined && !acceptsSession(path));
  expect(refused.map(({ path }) => path)).toEqual([]);
  const accepted = operations.filter(({ listener, path }) => listener === 'public' && acceptsSession(path));
  expect(accepted.map(({ path }) => path)).toEqual([]);
});
