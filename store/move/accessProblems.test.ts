/** What to do about a store that cannot be reached. */
import { expect, test } from 'vitest';
import {
  describeClusterProblem,
  describeConnectionError,
  describeSentinelProblem,
} from './accessProblems.ts';

const untrusted = Object.assign(new Error('unable to verify the first certificate'), {
  code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
});

test.each([
  ['an untrusted certificate of the source', untrusted, 'source', true, 'the authorities of --from-ca'],
  ['an untrusted certificate of the target', untrusted, 'target', true, 'the authorities of --to-ca'],
  [
    'an ended connection',
    new Error('read ECONNRESET'),
    'target',
    false,
    'If the target requires TLS, use rediss',
  ],
  [
    'no handshake',
    new Error('connect ETIMEDOUT'),
    'source',
    true,
    'If the source does not use TLS, use redis',
  ],
  [
    'a missing password',
    new Error('NOAUTH HELLO must be called with the client already authenticated, otherwise …'),
    'target',
    false,
    'it requires a password (NOAUTH). Set --to-password-file',
  ],
  [
    'a wrong password',
    new Error('WRONGPASS invalid username-password pair or user is disabled.'),
    'source',
    false,
    'is disabled. Check --from-user and --from-password-file',
  ],
  [
    'an unknown name',
    new Error('getaddrinfo ENOTFOUND windlass-redis-0.windlass-system.svc'),
    'source',
    false,
    'execute the command in a pod',
  ],
] as const)('the error for %s says what to do', (_, error, side, isTLS, advice) => {
  expect(describeConnectionError(error, { side, isTLS })).toContain(advice);
});

test('other errors are reported as they are', () => {
  const error = new Error('connect ECONNREFUSED');
  expect(describeConnectionError(error, { side: 'source', isTLS: true })).toBe('connect ECONNREFUSED');
});

test('sentinels that cannot be asked with TLS may have another certificate', () => {
  const problem = 'too few sentinels answer';
  expect(describeSentinelProblem(problem, { isTLS: true })).toContain('reaches them with TLS');
  expect(describeSentinelProblem(problem, { isTLS: false })).not.toContain('TLS');
});

test('a Redis Cluster that is down names the command that checks it', () => {
  expect(describeClusterProblem('cluster is down')).toContain('redis-cli --cluster check');
});
