import { expect, test } from 'vitest';
import { ApiError } from '../../kube/errors.ts';
import { CommandError } from '../shared/exit.ts';
import { explainedError } from './errors.ts';

const called = { context: 'prod', connection: { server: 'https://a.example' } };

test.each([
  [0, 'ECONNREFUSED', 'no answer', 4, 'https://a.example of context prod does not answer (ECONNREFUSED)'],
  [401, 'Unauthorized', 'GET /a: 401 Unauthorized', 4, 'does not accept your token or certificate'],
  [403, 'Forbidden', 'GET /a: 403 you cannot list', 4, 'context prod lacks a right: you cannot list'],
  [
    404,
    'NotFound',
    'GET /a: 404 workflowruns.windlass.dev "x" not found',
    5,
    'context prod: workflowruns.windlass.dev "x" not found: the name or the namespace is wrong, or the history',
  ],
  [404, 'NotFound', 'GET /a: 404 credentials "x" not found', 5, 'context prod: credentials "x" not found'],
  [
    404,
    'NotFound',
    'GET /a: 404 the server could not find the requested resource',
    4,
    'the cluster of context prod has no Windlass',
  ],
  [422, 'Invalid', 'POST /a: 422 spec is invalid', 4, 'context prod refuses this: spec is invalid'],
])('a refusal with status %i and reason %s is a sentence', (status, reason, message, code, says) => {
  const error = explainedError(new ApiError({ status, reason, message }), called);
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(says) as string });
});

test('what is no refusal stays what it is', () => {
  const defect = new TypeError('x is undefined');
  expect(explainedError(defect, called)).toBe(defect);
});
