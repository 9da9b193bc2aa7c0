import { expect, test } from 'vitest';
import { checkKeys } from './check.ts';
import { nextCheckMs } from './controller.ts';

const refs = [
  { name: 'mail', key: 'password' },
  { name: 'mail', key: 'token' },
];

test('a Secret with all keys is complete', () => {
  expect(checkKeys('shop', refs, new Map([['mail', ['token', 'password', 'other']]]))).toMatchObject({
    status: 'True',
    reason: 'Complete',
  });
});

test('a credential that names no Secret is complete', () => {
  expect(checkKeys('shop', [], new Map())).toMatchObject({ status: 'True', reason: 'Complete' });
});

test('a missing Secret is told with the command that creates it with every key', () => {
  const { reason, message } = checkKeys('shop', refs, new Map([['mail', undefined]]));
  expect(reason).toBe('SecretMissing');
  expect(message).toBe(
    'Secret mail does not exist. Create it: kubectl -n shop create secret generic mail --from-literal=password=VALUE --from-literal=token=VALUE',
  );
});

test('a missing key is told with the command that adds it', () => {
  const { reason, message } = checkKeys('shop', refs, new Map([['mail', ['password']]]));
  expect(reason).toBe('KeyMissing');
  expect(message).toBe(
    `Secret mail has no key token. Add it: kubectl -n shop patch secret mail -p '{"stringData":{"token":"VALUE"}}'`,
  );
});

const now = new Date('2026-01-01T00:01:00Z');
const condition = (status: 'True' | 'False', lastTransitionTime: string) => ({
  type: 'Ready',
  status,
  reason: 'SecretMissing',
  message: '',
  lastTransitionTime,
});

test.each([
  ['just found missing', condition('False', '2026-01-01T00:01:00Z'), 1_000],
  ['missing for 20 s', condition('False', '2026-01-01T00:00:40Z'), 10_000],
  ['missing for a day', condition('False', '2025-12-31T00:00:00Z'), 25_000],
  ['complete', condition('True', '2026-01-01T00:00:00Z'), 300_000],
  ['never checked', undefined, 1_000],
])('a Secret that is %s is checked again in due time', (_sentence, ready, expected) => {
  expect(nextCheckMs(ready, now)).toBe(expected);
});
