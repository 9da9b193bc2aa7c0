/** What the checks of outages, restarts and lists find, and that they find nothing where all went well. */
import { expect, test } from 'vitest';
import type { Attempt, EndedRun, SentEvent } from '../../faults/evidence.ts';
import { cpuSecondsIn, tooHeavy, type Burden } from '../../faults/burden.ts';
import { unlike } from '../../faults/listing.ts';
import { badRefusals, lateReturn, notExecuted } from '../../faults/outage.ts';
import { dropped } from '../../faults/rolling.ts';

const outage = { from: 100_000, until: 160_000 };

const event = (...attempts: Partial<Attempt>[]): SentEvent => ({
  id: 'ev-a-1',
  workflow: 'mail',
  attempts: attempts.map((each) => ({ at: 120_000, ms: 5, connection: 'new', ...each })),
});
const ended = (seconds: number): EndedRun => ({
  run: 'mail-1',
  workflow: 'mail',
  phase: 'Succeeded',
  acceptedAt: 120_000,
  endedAt: 120_000 + seconds * 1_000,
});
const accepted = event({ status: 200, run: 'mail-1' });
const refused = { status: 503, retryAfter: 1 };

test.each([
  ['an event that is accepted and executed', accepted, [ended(1)], []],
  ['an event that is refused', event({ status: 503 }), [], ['not-executed']],
  ['an event that nobody answers', event({ error: 'ECONNRESET' }), [], ['not-executed']],
  ['a run that waits for the end of the outage', accepted, [ended(45)], ['not-executed']],
  ['an event before the outage that is refused', event({ at: 90_000, status: 503 }), [], []],
])('without API server, %s', (_what, sent, runs, kinds) => {
  expect(notExecuted([sent], runs, outage).map(({ kind }) => kind)).toEqual(kinds);
});

test.each([
  ['503 with Retry-After at once', refused, []],
  ['503 with Retry-After after 2.1 s', { ...refused, ms: 2_100 }, ['bad-refusal']],
  ['503 without Retry-After', { status: 503 }, ['bad-refusal']],
  ['2xx', { status: 200 }, ['bad-refusal']],
  ['a reset', { error: 'ECONNRESET' }, ['bad-refusal']],
  ['a reset in the moment in which Redis goes', { at: 100_500, error: 'ECONNRESET' }, []],
])('without Redis, %s', (_what, attempt, kinds) => {
  expect(badRefusals([event(attempt)], outage).map(({ kind }) => kind)).toEqual(kinds);
});

test.each([
  [171_000, []],
  [171_100, ['late-return']],
])('the first 2xx after the return of Redis at 161 s comes at %i ms', (at, kinds) => {
  const events = [event({ ...refused, at: 165_000 }), event({ status: 200, at, ms: 0 })];
  expect(lateReturn(events, outage.until, 161_000).map(({ kind }) => kind)).toEqual(kinds);
});

test.each([
  [{ status: 200 }, 0],
  [{ status: 404 }, 1],
  [{ status: 503, retryAfter: 1 }, 1],
  [{ error: 'ECONNREFUSED' }, 1],
])('in a rolling restart, %j counts as %i dropped', (attempt, count) => {
  expect(dropped([event(attempt)])).toHaveLength(count);
});

test.each([
  ['as it ended', [{ run: 'mail-1', phase: 'Succeeded' }], 0],
  ['in another phase', [{ run: 'mail-1', phase: 'Failed' }], 1],
  ['not at all', [{ run: 'mail-2', phase: 'Succeeded' }], 1],
  [
    'twice',
    [
      { run: 'mail-1', phase: 'Succeeded' },
      { run: 'mail-1', phase: 'Succeeded' },
    ],
    1,
  ],
])('of a run that is listed %s', (_what, listed, count) => {
  expect(unlike([ended(1)], listed)).toHaveLength(count);
});

const burden: Burden = {
  program: 'runner',
  pod: 'a',
  cpuPercent: 19.9,
  linesPerSecond: 4.9,
  restarted: false,
};

test.each<[string, Partial<Burden>, string[]]>([
  ['is quiet', {}, []],
  ['spins', { cpuPercent: 20 }, ['too-busy']],
  ['fills the log', { linesPerSecond: 5 }, ['too-talkative']],
  ['ended because something else was away', { restarted: true }, ['restarted']],
])('in an outage, a program that %s', (_what, change, kinds) => {
  expect(tooHeavy([{ ...burden, ...change }], 'without Redis').map(({ kind }) => kind)).toEqual(kinds);
});

test('an operator may end without API server, since it must not lead any more', () => {
  const restarted: Burden = { ...burden, program: 'operator', restarted: true };
  expect(tooHeavy([restarted], 'without API server', ['operator'])).toEqual([]);
});

test('the processor time of a process is that of its user and its system part, whatever its name', () => {
  const stat = '42 (a b) c) S 1 42 42 0 -1 4194560 5 0 0 0 250 50 0 0 20 0 11 0 1234 1000 200';
  expect(cpuSecondsIn(stat)).toBeCloseTo(3);
});
