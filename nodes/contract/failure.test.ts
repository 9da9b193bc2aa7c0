import { expect, test } from 'vitest';
import { APIConnectionError, APIError } from 'openai';
import { failureOf } from '../models/failure.ts';
import { connectionFailure } from './failure.ts';
import { stepError } from './node.ts';
import { Secret } from './secret.ts';

const errors = { ApiError: APIError, ConnectionError: APIConnectionError };
const { signal } = new AbortController();
const step = { signal, effect: 'AtMostOnce' } as const;
const change = { host: 'a.example', signal, mayChange: true, afterChange: false };

test.each([
  ['connect', 'Unreachable'],
  ['read', 'EffectUnknown'],
  ['write', 'EffectUnknown'],
])('losing a host in %s leaves in doubt what was sent by then, and nothing else', (syscall, reason) => {
  const code = 'EHOSTUNREACH';
  const lost = Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  expect(stepError(connectionFailure(lost, change), step)).toMatchObject({ reason });
  const wrapped = new TypeError('fetch failed', { cause: lost });
  expect(failureOf(wrapped, { key: new Secret('test-secret'), effect: 'AtMostOnce', errors })).toMatchObject({
    reason,
  });
});
