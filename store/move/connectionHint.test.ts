/** What a failed connection suggests. */
import { expect, test } from 'vitest';
import { describeCluster, describeConnectionError, describeSentinels } from './connectionHint.ts';

const untrusted = Object.assign(new Error('unable to verify the first certificate'), {
  code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
});

test.each([
  ['an untrusted certificate', untrusted, 'source', true, 'the authorities of --from-ca'],
  ['an untrusted certificate', untrusted, 'target', true, 'the authorities of --to-ca'],
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
    'it requires a password: set --to-password-file',
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
] as const)('%s (%s, %s) has a hint', (_, error, side, isTLS, hint) => {
  expect(describeConnectionError(error, { side, isTLS })).toContain(hint);
});

test('other errors are reported without a hint', () => {
  const error = new Error('connect ECONNREFUSED');
  expect(describeConnectionError(error, { side: 'source', isTLS: true })).toBe('connect ECONNREFUSED');
});

test('sentinels that cannot be asked with TLS may have another certificate', () => {
  const problem = 'too few sentinels answer';
  expect(describeSentinels(problem, { isTLS: true })).toContain('reaches them with TLS');
  expect(describeSentinels(problem, { isTLS: false })).not.toContain('TLS');
});

test('a Redis Cluster that is down names the command that checks it', () => {
  expect(describeCluster('cluster is down')).toContain('redis-cli --cluster check');
});
