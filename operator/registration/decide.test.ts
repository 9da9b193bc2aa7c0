import { expect, test } from 'vitest';
import type { RegistrationResult } from '../../api/registration.ts';
import { decideRegistration, registeredIn, type RegistrationFacts } from './decide.ts';

const MINUTE_MS = 60_000;
const now = Date.parse('2026-01-02T00:00:00Z');
const URL = 'https://hooks.example.com/bot/shop.support';
const done: RegistrationResult = { works: true, url: URL };
const rejected: RegistrationResult = { works: false, reason: 'Rejected', message: 'No.' };
const away: RegistrationResult = { works: false, reason: 'Unreachable', message: 'Nobody there.' };

const answered = (result: RegistrationResult, ageMs = 0, key = 'now') => ({
  seen: { now, answer: { key, failures: result.works ? 0 : 1, result, at: now - ageMs } },
});
const facts: RegistrationFacts = {
  desired: { url: URL },
  hasFinalizer: true,
  isBot: true,
  key: 'now',
  hasRunner: true,
  isAsleep: false,
  seen: { now },
};
const decided = (changes: Partial<RegistrationFacts>) => decideRegistration({ ...facts, ...changes });

test('the registration of a used bot is requested, and pending until then', () => {
  const { ask, health } = decided({});
  expect(ask).toEqual({ failures: 0, wasSo: false });
  expect(health).toMatchObject({ status: 'Unknown', reason: 'Pending' });
});

test('the last answer has the registration, also after failures, until it is deleted', () => {
  const registered = { url: URL, bot: '12' };
  const seenWith = (result: RegistrationResult) => registeredIn(answered(result).seen);
  expect(seenWith({ ...done, bot: '12' })).toEqual(registered);
  expect(seenWith({ ...away, registered })).toEqual(registered);
  expect([seenWith({ works: true }), seenWith(away), registeredIn({ now })]).toEqual(
    Array(3).fill(undefined),
  );
});

test('a pending request is not repeated, and its answer is awaited', () => {
  const { ask, againMs } = decided({ seen: { now, waiting: { key: 'now', askedAt: now - 4_000 } } });
  expect(ask).toBeUndefined();
  expect(againMs).toBe(2_000);
});

test('without a runner nothing is requested, and the message names the command to inspect runners', () => {
  const { ask, health } = decided({ hasRunner: false });
  expect(ask).toBeUndefined();
  expect(health?.message).toContain('kubectl get deployment windlass-runner');
});

test('a registered bot is healthy, and verified every five minutes', () => {
  const fresh = decided(answered(done, MINUTE_MS));
  expect(fresh).toMatchObject({ health: { status: 'True', reason: 'Registered' }, againMs: 4 * MINUTE_MS });
  expect(fresh.ask).toBeUndefined();
  expect(decided(answered(done, 5 * MINUTE_MS)).ask).toEqual({ failures: 0, wasSo: true });
});

test('a registration is not verified while the runners sleep, but a new one wakes them', () => {
  const verified = decided({ ...answered(done, 5 * MINUTE_MS), isAsleep: true });
  expect(verified).toMatchObject({ health: { reason: 'Registered' }, againMs: 5 * MINUTE_MS });
  expect(verified.ask).toBeUndefined();
  expect(decided({ ...answered(away, 60 * MINUTE_MS), isAsleep: true }).ask).toBeUndefined();
  expect(decided({ ...answered(done, 0, 'before'), isAsleep: true }).ask).toEqual({
    failures: 0,
    wasSo: false,
  });
});

test('a webhook that could not be deleted is tried again when the runners wake, at once for a Credential that is deleted', () => {
  const failed = { ...answered(away, 60 * MINUTE_MS), desired: 'none', isAsleep: true } as const;
  expect(decided(failed).ask).toBeUndefined();
  expect(decided({ ...failed, deletingMs: 1_000 }).ask).toEqual({ failures: 1, wasSo: false });
  expect(decided({ ...failed, seen: { now } }).ask).toEqual({ failures: 0, wasSo: false });
});

test('a changed token registers the bot again, without being unhealthy meanwhile', () => {
  const { ask, health } = decided(answered(done, MINUTE_MS, 'before'));
  expect(ask).toEqual({ failures: 0, wasSo: false });
  expect(health).toMatchObject({ status: 'True' });
});

test('another URL is pending until it is registered', () => {
  const elsewhere = { ...done, url: 'https://old.example.com/bot/shop.support' };
  expect(decided(answered(elsewhere, 0, 'before')).health).toMatchObject({ status: 'Unknown' });
});

test('a refusal is reported, and retried with a back-off', () => {
  const { health, ask } = decided(answered(rejected, 10_000));
  expect(health).toMatchObject({ status: 'False', reason: 'Rejected' });
  expect(health?.message).toContain('No.');
  expect(ask).toBeUndefined();
  expect(decided(answered(rejected, 21_000)).ask).toEqual({ failures: 1, wasSo: false });
});

test('an unreachable service is retried within seconds', () => {
  expect(decided(answered(away, 4_000)).ask).toBeUndefined();
  expect(decided(answered(away, 6_000)).ask).toEqual({ failures: 1, wasSo: false });
});

test('undelivered messages are reported, and checked again within a minute', () => {
  const undelivered = { ...done, undelivered: 'Connection refused' };
  expect(decided(answered(undelivered)).health).toMatchObject({ status: 'False', reason: 'Unreachable' });
  expect(decided(answered(undelivered, 61_000)).ask).toEqual({ failures: 0, wasSo: true });
});

test('during an outage of the run store nothing is requested and nothing given up', () => {
  expect(decided({ seen: undefined })).toMatchObject({ health: { reason: 'StoreUnavailable' } });
  const leaving = decided({ desired: 'none', seen: undefined });
  expect([leaving.ask, leaving.release]).toEqual([undefined, undefined]);
});

test('while senders cannot be verified, the registration stays', () => {
  expect(decided({ desired: 'unchanged' })).toEqual({ againMs: 5 * MINUTE_MS });
});

const leaving = { desired: 'none', key: 'now' } as const;

test('the registration of an unused bot is deleted, with retries', () => {
  expect(decided(leaving).ask).toEqual({ failures: 0, wasSo: false });
  expect(decided({ ...leaving, ...answered(done, 0, 'before') }).ask).toBeDefined();
  expect(decided({ ...leaving, ...answered({ works: true }) }).release).toEqual({});
});

test('a bot that was never registered needs no deletion', () => {
  expect(decided({ ...leaving, hasFinalizer: false })).toEqual({});
});

test.each([rejected, away])(
  'a bot that is switched off is tried again for as long as it takes: %o',
  (said) => {
    const { ask, release } = decided({ ...leaving, ...answered(said, 3 * 3_600_000) });
    expect(release).toBeUndefined();
    expect(ask).toEqual({ failures: 1, wasSo: false });
  },
);

test('the deletion of a Credential waits at most a minute for an unreachable service', () => {
  const waiting = decided({ ...leaving, deletingMs: 59_000, ...answered(away, 1_000) });
  expect(waiting.release).toBeUndefined();
  expect(waiting.againMs).toBeLessThanOrEqual(2_000);
  const over = decided({ ...leaving, deletingMs: 60_000, ...answered(away, 1_000) });
  expect(over.release).toEqual({ gaveUp: 'Nobody there.' });
});

test.each([{ hasRunner: false }, { seen: undefined }])(
  'nor for a runner or a run store that is not there: %o',
  (lack) => {
    expect(decided({ ...leaving, ...lack, deletingMs: 59_000 }).release).toBeUndefined();
    expect(decided({ ...leaving, ...lack, deletingMs: 60_000 }).release).toHaveProperty('gaveUp');
  },
);

test('in a deleted project a runner that shuts down is still asked', () => {
  expect(decided({ ...leaving, hasRunner: false, deletingMs: 0 }).ask).toBeDefined();
  expect(decided({ ...leaving, hasRunner: false }).ask).toBeUndefined();
});

test('the deletion of a Credential does not wait if its token is invalid', () => {
  const missing: RegistrationResult = { works: false, reason: 'KeyMissing', message: 'There is no Secret.' };
  for (const said of [rejected, missing])
    expect(decided({ ...leaving, deletingMs: 0, ...answered(said) }).release).toEqual({
      gaveUp: said.message,
    });
});

test('a Credential that is no longer a bot is released at once', () => {
  expect(decided({ ...leaving, isBot: false }).release).toHaveProperty('gaveUp');
});
