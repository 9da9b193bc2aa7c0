import { expect, test } from 'vitest';
import { failureOf } from '../agent/failure.ts';
import { Secret } from '../secret.ts';
import { brokenOff } from '../skills/http/failure.ts';

const effect = 'AtMostOnce';
const { signal } = new AbortController();
const change = { method: 'POST', url: new URL('http://a.example/'), headers: {} } as const;

test.each([
  ['connect', 'Unreachable'],
  ['read', 'EffectUnknown'],
  ['write', 'EffectUnknown'],
])('a host that is lost in %s leaves in doubt what was sent by then, and nothing else', (syscall, reason) => {
  const code = 'EHOSTUNREACH';
  const lost = Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  expect(brokenOff(lost, change, { signal, effect })).toMatchObject({ reason });
  const wrapped = new TypeError('fetch failed', { cause: lost });
  expect(failureOf(wrapped, { key: new Secret('test-secret'), effect })).toMatchObject({ reason });
});
