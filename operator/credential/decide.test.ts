import { expect, test } from 'vitest';
import type { CheckResult } from '../../api/check.ts';
import type { Condition } from '../../kube/resource.ts';
import { checkedAfter, decide, decideConnected, INCOMPLETE, untilNextMs } from './decide.ts';

const DAY_MS = 24 * 3_600_000;
const now = Date.parse('2026-01-02T00:00:00Z');
const works: CheckResult = { works: true, message: 'It took the login.' };
const rejected: CheckResult = { works: false, reason: 'Rejected', message: 'No.' };
const untriable: CheckResult = { works: false, reason: 'NotChecked', message: 'No right yet.' };
const away: CheckResult = { works: false, reason: 'Unreachable', message: 'Nobody there.' };
const answer = (result: CheckResult, ageMs: number, key = 'now') => ({
  key,
  failures: result.works ? 0 : 1,
  result,
  at: now - ageMs,
});
const facts = { key: 'now', isUsed: true, hasRunner: true, isAsleep: false, seen: { now } };
const condition = (reason: string, observedGeneration = 2): Condition => ({
  type: 'Ready',
  status: 'True',
  reason,
  message: '',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const decided = (changes: object, before?: Condition) => decide({ ...facts, ...changes }, before, 2);

test('a credential that no workflow names is ready, with the note that it was not checked', () => {
  const decision = decided({ isUsed: false });
  expect(decision.finding).toMatchObject({ status: 'True', reason: 'Unused' });
  expect(decision.checked).toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
  expect(decision.ask).toBeUndefined();
});

test.each<[string, CheckResult, number, string, string]>([
  ['that it works an hour', works, 3_600_000, 'True/Checked', 'True/Checked'],
  ['that it works a day', works, DAY_MS, 'True/Unused', 'Unknown/NotChecked'],
  ['that it is refused an hour', rejected, 3_600_000, 'False/Rejected', 'False/Rejected'],
  ['that it could not be tried an hour', untriable, 3_600_000, 'True/Unused', 'Unknown/NotChecked'],
])('of a credential that no workflow names it was found %s ago', (_what, result, ageMs, ready, checked) => {
  const decision = decided({ isUsed: false, seen: { now, answer: answer(result, ageMs) } });
  const words = [decision.finding, decision.checked].map((said) => `${said?.status}/${said?.reason}`);
  expect(words).toEqual([ready, checked]);
  expect(decision.ask).toBeUndefined();
});

test.each([
  ['that was tried', { seen: { now, answer: answer(rejected, 0) } }, false],
  ['that no workflow names', { isUsed: false }, false],
  ['that is asked for', {}, true],
  ['that no runner can try yet', { hasRunner: false }, true],
  ['that a runner could not try', { seen: { now, answer: answer(untriable, 0) } }, true],
  ['while the run store is away', { seen: undefined }, true],
])('of a credential %s it is known whether it will yet be tried', (_sentence, changes, isUnchecked) => {
  expect(decided(changes).isUnchecked ?? false).toBe(isUnchecked);
});

test('an unchecked credential is checked as soon as there is a runner', () => {
  expect(decided({ hasRunner: false })).toMatchObject({
    finding: { status: 'Unknown', reason: 'NotChecked' },
  });
  expect(decided({ hasRunner: false }).ask).toBeUndefined();
  expect(decided({ hasRunner: false }).againMs).toBe(30_000);
  expect(decided({})).toMatchObject({ finding: { status: 'Unknown' }, ask: { failures: 0 } });
});

test.each<[sentence: string, changes: object, isAsked: boolean]>([
  ['that is new', {}, true],
  ['with another Secret', { seen: { now, answer: answer(works, 0, 'before') } }, true],
  ['that was refused an hour ago', { seen: { now, answer: answer(rejected, 3_600_000) } }, false],
  ['that worked a day ago', { seen: { now, answer: answer(works, DAY_MS) } }, false],
  ['with a renewed token', { key: 'now.2', seen: { now, answer: answer(works, DAY_MS, 'now.1') } }, false],
])('whether runners that sleep are woken to check a credential %s', (_sentence, changes, isAsked) => {
  expect(decided({ ...changes, isAsleep: true }).ask !== undefined).toBe(isAsked);
});

test('a renewed token is checked once runners are awake, and its last result counts until then', () => {
  const changes = { key: 'now.2', seen: { now, answer: answer(rejected, 3_600_000, 'now.1') } };
  expect(decided({ ...changes, isAsleep: true }).finding).toMatchObject({ reason: 'Rejected' });
  expect(decided(changes).ask).toEqual({ failures: 0 });
});

test('a pending check is not requested again', () => {
  const waiting = { key: 'now', askedAt: now - 2_000 };
  expect(decided({ seen: { now, waiting } })).toMatchObject({ againMs: 1_000 });
  expect(decided({ seen: { now, waiting } }).ask).toBeUndefined();
  expect(decided({ seen: { now, waiting: { ...waiting, key: 'before' } } }).ask).toEqual({ failures: 0 });
});

test('an answer to something else than the credential as it is now does not count', () => {
  const seen = { now, answer: answer(works, 1_000, 'before') };
  expect(decided({ seen })).toMatchObject({ finding: { reason: 'NotChecked' }, ask: { failures: 0 } });
});

test('while a changed Secret is tried, what was found before stays; not so of another spec', () => {
  const seen = { now, answer: answer(works, 1_000, 'before') };
  expect(decided({ seen }, condition('Checked')).finding).toBeUndefined();
  expect(decided({ seen }, condition('Checked', 1)).finding).toMatchObject({ reason: 'NotChecked' });
  expect(decided({ seen }, condition('SecretMissing')).finding).toMatchObject({ reason: 'NotChecked' });
});

test.each([
  [works, 'True', 'Checked'],
  [rejected, 'False', 'Rejected'],
  [away, 'False', 'Unreachable'],
  [{ works: false, reason: 'NotChecked', message: '' } as const, 'Unknown', 'NotChecked'],
])('%j is told as Ready=%s', (result, status, reason) => {
  const decision = decided({ seen: { now, answer: answer(result, 0) } });
  expect(decision.finding).toMatchObject({ status, reason });
  expect(decision.ask).toBeUndefined();
});

test.each([
  ['works', works, DAY_MS],
  ['is refused', rejected, 20_000],
  ['is away', away, 5_000],
])('what %s is tried again when its time has come', (_what, result, ms) => {
  const at = (ageMs: number) => decided({ seen: { now, answer: answer(result, ageMs) } }).ask;
  expect(at(ms - 1)).toBeUndefined();
  expect(at(ms)).toEqual({ failures: result.works ? 0 : 1 });
});

test('nothing is tried again without a runner, and what was found stays', () => {
  const decision = decided({ hasRunner: false, seen: { now, answer: answer(works, 2 * DAY_MS) } });
  expect(decision).toMatchObject({ finding: { reason: 'Checked' } });
  expect(decision.ask).toBeUndefined();
});

test.each(['Rejected', 'Checked'])(
  'without the run store the result %s of a credential that no workflow names stays',
  (reason) => {
    const decision = decided({ isUsed: false, seen: undefined }, condition(reason));
    expect(decision.finding).toBeUndefined();
    expect(decision.checked).toBeUndefined();
    const other = decided({ isUsed: false, seen: undefined }, condition(reason, 1));
    expect(other.finding).toMatchObject({ reason: 'Unused' });
  },
);

test('without the run store what was found stays', () => {
  expect(decided({ seen: undefined }, condition('Rejected')).finding).toBeUndefined();
  expect(decided({ seen: undefined }).finding).toMatchObject({ reason: 'StoreUnavailable' });
});

test('who is away is asked again within 20 s for ever, who refuses less and less often', () => {
  const waits = (result: CheckResult) =>
    [1, 2, 3, 4, 50].map((failures) => untilNextMs({ failures, result }) / 1_000);
  expect(waits(away)).toEqual([5, 10, 20, 20, 20]);
  expect(waits(rejected)).toEqual([20, 40, 80, 160, 3_600]);
});

test('who asks to wait is left alone for so long', () => {
  const result = { ...away, retryAfterMs: 120_000 };
  expect(untilNextMs({ failures: 1, result })).toBe(120_000);
});

const connected = { status: 'True', reason: 'Connected', message: 'Connected.' } as const;
const decidedConnected = (changes: object, before?: Condition) =>
  decideConnected({ ...facts, ...changes }, connected, before, 2);

test('an account that is connected says so, also where it cannot be tried or was not yet', () => {
  expect(decidedConnected({ isUsed: false }).finding).toEqual(connected);
  expect(decidedConnected({ hasRunner: false }).finding).toEqual(connected);
  expect(decidedConnected({}, condition('Expired'))).toMatchObject({
    finding: connected,
    ask: { failures: 0 },
  });
  const seen = { now, answer: answer(works, 1_000) };
  expect(decidedConnected({ seen })).toMatchObject({ finding: connected, answer: { at: now - 1_000 } });
});

test('an account whose token is refused says so until another token was tried', () => {
  const seen = { now, answer: answer(rejected, 1_000) };
  expect(decidedConnected({ seen }).finding).toMatchObject({ status: 'False', reason: 'Rejected' });
  expect(decidedConnected({}, condition('Rejected')).finding).toBeUndefined();
});

const checkedWith = (changes: object, reason: string) => {
  const decision = decided(changes);
  return (checkedAfter(decision, condition(reason), 2) ?? { reason: 'as it was' }).reason;
};

test.each<[sentence: string, changes: object, before: string, after: string]>([
  ['of which another Secret is being tried', {}, 'Checked', 'as it was'],
  ['of which another Secret is to be tried without a runner', { hasRunner: false }, 'Rejected', 'as it was'],
  ['that was never tried', {}, 'NotChecked', 'NotChecked'],
  ['that was tried', { seen: { now, answer: answer(rejected, 0) } }, 'Checked', 'Rejected'],
  ['that no workflow names any more', { isUsed: false }, 'Checked', 'NotChecked'],
])('Checked of a credential %s', (_sentence, changes, before, after) => {
  expect(checkedWith(changes, before)).toBe(after);
});

test('Checked of a credential that has become incomplete says that it was not tried', () => {
  const decision = { checked: INCOMPLETE, againMs: 0 };
  expect(checkedAfter(decision, condition('Checked'), 2)).toBe(INCOMPLETE);
});

test('an account that is connected is Checked only once it was tried', () => {
  expect(decidedConnected({}).checked).toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
  const seen = { now, answer: answer(works, 1_000) };
  expect(decidedConnected({ seen }).checked).toMatchObject({ status: 'True', reason: 'Checked' });
});
