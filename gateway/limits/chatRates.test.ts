import { expect, test } from 'vitest';
import { createChatRates } from './chatRates.ts';

const two = { requestsPerSecond: 1, burst: 2 };
const none = { requestsPerSecond: 0, burst: 0 };

test('a session has its own rate, which time fills again', () => {
  const rates = createChatRates({ chatPerSession: two, chatPerAddress: none });
  const reasonOf = (session: string, now: number) => rates.ofMessage(session, 'here', now)?.reason;
  expect([reasonOf('a', 0), reasonOf('a', 0), reasonOf('a', 0)]).toEqual([
    undefined,
    undefined,
    'rate-per-session',
  ]);
  expect(reasonOf('b', 0)).toBeUndefined();
  expect(reasonOf('a', 1_000)).toBeUndefined();
});

test('an address has one rate for all its sessions, and what it refuses spends no rate of a session', () => {
  const rates = createChatRates({ chatPerSession: two, chatPerAddress: two });
  expect(rates.ofMessage('a', 'here', 0)).toBeUndefined();
  expect(rates.ofMessage('b', 'here', 0)).toBeUndefined();
  expect(rates.ofMessage('c', 'here', 0)).toEqual({ reason: 'rate-per-address', retryAfter: 1 });
  expect(rates.ofMessage('c', 'there', 0)).toBeUndefined();
  expect(rates.ofMessage('c', 'elsewhere', 0)).toBeUndefined();
  expect(rates.ofMessage('c', 'far', 0)?.reason).toBe('rate-per-session');
});
