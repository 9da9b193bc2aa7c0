import { expect, test } from 'vitest';
import type { PollState } from '../../store/polling/state.ts';
import { healthOf } from './health.ts';

const now = Date.parse('2026-03-02T09:00:00Z');
const stateOf = (changes: Partial<PollState> = {}): PollState => ({
  dueAt: now + 30_000,
  intervalMs: 60_000,
  lateMs: 0,
  now,
  polledAt: now - 30_000,
  ...changes,
});
const failure = { reason: 'Rejected', message: 'The server refuses the password.', inARow: 1 };

test.each([
  ['nothing is known', undefined, 'Unknown/Pending'],
  ['nobody has polled yet', { now, dueAt: now, intervalMs: 60_000, lateMs: 0 }, 'Unknown/Pending'],
  ['the last poll worked', stateOf(), 'True/Polled'],
  ['it failed', stateOf({ failure }), 'False/Rejected'],
  [
    'it failed for a reason of another version',
    stateOf({ failure: { ...failure, reason: 'Other' } }),
    'False/UpstreamError',
  ],
  ['it is due for two minutes', stateOf({ dueAt: now - 120_000 }), 'True/Polled'],
  ['it is due for longer', stateOf({ dueAt: now - 151_000 }), 'False/NotPolled'],
  ['it was never polled', { now, dueAt: now - 151_000, intervalMs: 60_000, lateMs: 0 }, 'False/NotPolled'],
  ['it failed, and polling has stopped', stateOf({ failure, dueAt: now - 211_000 }), 'False/NotPolled'],
  ['it failed, and waits for the next pod', stateOf({ failure, dueAt: now - 209_000 }), 'False/Rejected'],
])('where %s', (_what, state, expected) => {
  const { status, reason } = healthOf(state);
  expect(`${status}/${reason}`).toBe(expected);
});

test('an account without its credential is not polled, and the trigger reports it at once', () => {
  const unusable = { reason: 'CredentialMissing', message: 'Credential inbox does not exist.' } as const;
  for (const state of [undefined, stateOf(), stateOf({ dueAt: now - 151_000 })])
    expect(healthOf(state, { unusable })).toEqual({
      status: 'False',
      reason: 'CredentialMissing',
      message: 'The account is not polled: Credential inbox does not exist.',
    });
});

const refused = { reason: 'QuotaExceeded', message: 'A quota admits no CronJob.' } as const;

test.each([
  ['nobody has polled', undefined, 'False/QuotaExceeded'],
  ['polling has stopped', stateOf({ dueAt: now - 151_000 }), 'False/QuotaExceeded'],
  ['the CronJob before it still does its work', stateOf(), 'True/Polled'],
  ['a poll has failed', stateOf({ failure }), 'False/Rejected'],
])('a CronJob that is refused is told where %s', (_what, state, expected) => {
  const { status, reason } = healthOf(state, { refused });
  expect(`${status}/${reason}`).toBe(expected);
});

test.each([
  ['yesterday', true],
  ['', true],
  ['now', false],
  ['2026-03-02T09:00:00Z', false],
  [undefined, false],
])('the invalid annotation %s is reported, with valid values: %s', (reset, isTold) => {
  const { status, message } = healthOf(stateOf(), { reset });
  expect(status).toBe('True');
  expect(message.includes('set it to now, or to a time such as')).toBe(isTold);
});

test('a message without a full stop becomes a sentence', () => {
  const refused = { ...failure, message: 'connect ECONNREFUSED 10.0.0.1:993' };
  expect(healthOf(stateOf({ failure: refused })).message).toContain(':993. The next poll is at');
});

test('during a back-off the message has the failure, the count and the time of the next poll', () => {
  const { message } = healthOf(stateOf({ failure: { ...failure, inARow: 4 }, dueAt: now + 480_000 }));
  expect(message).toBe(
    'The server refuses the password. 4 consecutive polls have failed. The next poll is at 2026-03-02T09:08:00Z.',
  );
});
