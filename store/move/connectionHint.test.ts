/** What a failed connection suggests. */
import { expect, test } from 'vitest';
import { connectionHint } from './connectionHint.ts';

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
] as const)('%s (%s, %s) has a hint', (_, error, side, isTLS, hint) => {
  expect(connectionHint(error, { side, isTLS })).toContain(hint);
});

test('other errors have no hint', () => {
  expect(connectionHint(new Error('connect ECONNREFUSED'), { side: 'source', isTLS: true })).toBe('');
});
