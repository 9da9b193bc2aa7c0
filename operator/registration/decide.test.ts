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
  seen: { now },
};
const decided = (changes: Partial<RegistrationFacts>) => decideRegistration({ ...facts, ...changes });

test('a bot that a workflow wants is asked to be registered, and nobody says before that it is', () => {
  const { ask, health } = decided({});
  expect(ask).toEqual({ failures: 0, wasSo: false });
  expect(health).toMatchObject({ status: 'Unknown', reason: 'Pending' });
});

test('what is registered is known from the last answer, also after failures, and not any more once it is taken back', () => {
  const registered = { url: URL, bot: '12' };
  const seenWith = (result: RegistrationResult) => registeredIn(answered(result).seen);
  expect(seenWith({ ...done, bot: '12' })).toEqual(registered);
  expect(seenWith({ ...away, registered })).toEqual(registered);
  expect([seenWith({ works: true }), seenWith(away), registeredIn({ now })]).toEqual(
    Array(3).fill(undefined),
  );
});

test('what is asked is not asked again, but looked for', () => {
  const { ask, againMs } = decided({ seen: { now, waiting: { key: 'now', askedAt: now - 4_000 } } });
  expect(ask).toBeUndefined();
  expect(againMs).toBe(2_000);
});

test('without a runner nothing is asked, and it says how to look at them', () => {
  const { ask, health } = decided({ hasRunner: false });
  expect(ask).toBeUndefined();
  expect(health?.message).toContain('kubectl get deployment windlass-runner');
});

test('a bot that is registered is healthy, and looked at again every five minutes', () => {
  const fresh = decided(answered(done, MINUTE_MS));
  expect(fresh).toMatchObject({ health: { status: 'True', reason: 'Registered' }, againMs: 4 * MINUTE_MS });
  expect(fresh.ask).toBeUndefined();
  expect(decided(answered(done, 5 * MINUTE_MS)).ask).toEqual({ failures: 0, wasSo: true });
});

test('a changed token has it registered again, and until then it is not unhealthy', () => {
  const { ask, health } = decided(answered(done, MINUTE_MS, 'before'));
  expect(ask).toEqual({ failures: 0, wasSo: false });
  expect(health).toMatchObject({ status: 'True' });
});

test('another URL than the one that is registered is not there yet', () => {
  const elsewhere = { ...done, url: 'https://old.example.com/bot/shop.support' };
  expect(decided(answered(elsewhere, 0, 'before')).health).toMatchObject({ status: 'Unknown' });
});

test('a refusal is told, and tried again with patience', () => {
  const { health, ask } = decided(answered(rejected, 10_000));
  expect(health).toMatchObject({ status: 'False', reason: 'Rejected' });
  expect(health?.message).toContain('No.');
  expect(ask).toBeUndefined();
  expect(decided(answered(rejected, 21_000)).ask).toEqual({ failures: 1, wasSo: false });
});

test('who is away is tried again within seconds', () => {
  expect(decided(answered(away, 4_000)).ask).toBeUndefined();
  expect(decided(answered(away, 6_000)).ask).toEqual({ failures: 1, wasSo: false });
});

test('what Telegram cannot deliver is told, and looked at again within a minute', () => {
  const undelivered = { ...done, undelivered: 'Connection refused' };
  expect(decided(answered(undelivered)).health).toMatchObject({ status: 'False', reason: 'Unreachable' });
  expect(decided(answered(undelivered, 61_000)).ask).toEqual({ failures: 0, wasSo: true });
});

test('while the run store is away nothing is asked and nothing is given up', () => {
  expect(decided({ seen: undefined })).toMatchObject({ health: { reason: 'StoreUnavailable' } });
  const leaving = decided({ desired: 'none', seen: undefined });
  expect([leaving.ask, leaving.release]).toEqual([undefined, undefined]);
});

test('while callers cannot be verified, what is registered stays', () => {
  expect(decided({ desired: 'unchanged' })).toEqual({ againMs: 5 * MINUTE_MS });
});

const leaving = { desired: 'none', key: 'now' } as const;

test('what no workflow wants any more is taken back, until that is done', () => {
  expect(decided(leaving).ask).toEqual({ failures: 0, wasSo: false });
  expect(decided({ ...leaving, ...answered(done, 0, 'before') }).ask).toBeDefined();
  expect(decided({ ...leaving, ...answered({ works: true }) }).release).toEqual({});
});

test('what was never registered needs no taking back', () => {
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

test('a Credential that is deleted waits no longer than a minute for who is away', () => {
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

test('with a project that is deleted a runner that leaves is asked still', () => {
  expect(decided({ ...leaving, hasRunner: false, deletingMs: 0 }).ask).toBeDefined();
  expect(decided({ ...leaving, hasRunner: false }).ask).toBeUndefined();
});

test('a Credential that is deleted does not wait for a token that is no good', () => {
  const missing: RegistrationResult = { works: false, reason: 'KeyMissing', message: 'There is no Secret.' };
  for (const said of [rejected, missing])
    expect(decided({ ...leaving, deletingMs: 0, ...answered(said) }).release).toEqual({
      gaveUp: said.message,
    });
});

test('a Credential that is none of a bot any more has nothing to be asked with', () => {
  expect(decided({ ...leaving, isBot: false }).release).toHaveProperty('gaveUp');
});
