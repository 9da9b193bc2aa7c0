import { expect, test } from 'vitest';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTerminating,
  isTooLarge,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
} from './errors.ts';

const questions = {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTerminating,
  isTooLarge,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
};

/** Messages as an API server 1.34 and its etcd write them. */
test.each([
  { status: 0, reason: 'ECONNRESET', message: 'no answer', yes: ['isTransient'] },
  { status: 400, reason: 'BadRequest', message: 'invalid JSON', yes: ['isInvalid'] },
  { status: 401, reason: 'Unauthorized', message: 'Unauthorized', yes: ['isUnauthorized'] },
  { status: 403, reason: 'Forbidden', message: 'cannot get', yes: ['isForbidden'] },
  {
    status: 403,
    reason: 'Forbidden',
    message: 'unable to create new content in namespace a because it is being terminated',
    yes: ['isForbidden', 'isTerminating'],
  },
  { status: 404, reason: 'NotFound', message: 'not found', yes: ['isNotFound'] },
  { status: 409, reason: 'AlreadyExists', message: 'already exists', yes: ['isAlreadyExists'] },
  { status: 409, reason: 'Conflict', message: 'the object has been modified', yes: ['isConflict'] },
  { status: 410, reason: 'Expired', message: 'too old resource version', yes: ['isGone'] },
  { status: 413, reason: 'RequestEntityTooLarge', message: 'limit is 3145728', yes: ['isTooLarge'] },
  { status: 422, reason: 'Invalid', message: 'spec: Invalid value', yes: ['isInvalid'] },
  {
    status: 429,
    reason: 'TooManyRequests',
    message: 'try again later',
    yes: ['isTooManyRequests', 'isTransient'],
  },
  { status: 500, reason: 'InternalError', message: 'an error occurred', yes: ['isTransient'] },
  { status: 500, reason: '', message: 'etcdserver: request is too large', yes: ['isTooLarge'] },
  {
    status: 500,
    reason: '',
    message: 'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2 vs. 1)',
    yes: ['isTooLarge'],
  },
  { status: 503, reason: 'ServiceUnavailable', message: 'shutting down', yes: ['isTransient'] },
  { status: 504, reason: 'Timeout', message: 'Too large resource version', yes: ['isTransient'] },
])('$status $reason "$message" is $yes and nothing else', ({ yes, ...details }) => {
  const error = new ApiError(details);
  const answers = Object.entries(questions).filter(([, ask]) => ask(error));
  expect(answers.map(([name]) => name)).toEqual(yes);
});

test('an error that is not from the API server has no class', () => {
  const answers = Object.values(questions).map((ask) => ask(new Error('404 not found')));
  expect(answers).not.toContain(true);
});
