/** What a run store that lost its data may take with it, and what stays a broken promise all the same. */
import { expect, test } from 'vitest';
import { judge } from '../../faults/checker.ts';
import type { ViolationKind } from '../../faults/violation.ts';
import type { Effect } from '../../faults/effects.ts';
import type { EndedRun, Evidence, SentEvent } from '../../faults/evidence.ts';

const T = 1_700_000_000_000;
const LOST_AT = T + 10_000;

const sent = (number: number, at: number, run = `count-${number}`): SentEvent => ({
  id: `ev-a-${number}`,
  workflow: 'count',
  attempts: [{ at, ms: 5, connection: 'new', status: 200, run }],
});
const ended = (number: number, at: number): EndedRun => ({
  run: `count-${number}`,
  workflow: 'count',
  phase: 'Succeeded',
  acceptedAt: at,
  endedAt: at + 100,
});
const effect = (number: number, at: number, kind: Effect['kind'] = 'http'): Effect => ({
  kind,
  event: `ev-a-${number}`,
  key: `count-${number}/first/1`,
  at,
  run: `count-${number}`,
  node: 'first',
});

/** One run ended long before the loss, one was in the store, one was accepted afterwards. */
const whole: Evidence = {
  events: [sent(1, T), sent(2, LOST_AT - 50), sent(3, LOST_AT + 2_000)],
  effects: [effect(1, T + 50), effect(2, LOST_AT - 20), effect(3, LOST_AT + 2_050)],
  ended: [ended(1, T), ended(2, LOST_AT - 50), ended(3, LOST_AT + 2_000)],
  listed: { count: 2 },
  histories: [
    { run: 'count-3', uid: 'c', workflow: 'count', event: 'ev-a-3', phases: ['Running', 'Succeeded'] },
  ],
  totals: [{ workflow: 'count', accepted: 2, succeeded: 2, failed: 0, cancelled: 0, active: 0 }],
  faults: [],
  effectsOf: { count: ['http'] },
  keyed: { 'ev-a-1': 'count-1', 'ev-a-2': 'count-2', 'ev-a-3': 'count-3' },
  losses: [{ at: LOST_AT, runs: ['count-2'] }],
};

const kinds = (change: Partial<Evidence>) => {
  const { violations, taken } = judge({ ...whole, ...change });
  return { violations: violations.map(({ kind }) => kind), taken: taken.map(({ kind }) => kind) };
};

test('a run that was stored and went on from its record breaks no promise and took nothing', () => {
  expect(kinds({})).toEqual({ violations: [], taken: [] });
});

const again = (number: number) => [...whole.effects, effect(number, LOST_AT + 5_000)];

test.each<[string, Partial<Evidence>, ViolationKind[]]>([
  [
    'a run that was stored and is gone',
    {
      ended: [ended(1, T), ended(3, LOST_AT + 2_000)],
      listed: { count: 1 },
      totals: [{ workflow: 'count', accepted: 1, succeeded: 1, failed: 0, cancelled: 0, active: 0 }],
    },
    ['lost'],
  ],
  ['a run that was stored and repeats a step', { effects: again(2) }, ['effect-after-end']],
  [
    'the key of an event of which only the store knew',
    { keyed: { 'ev-a-2': 'count-2', 'ev-a-3': 'count-3' } },
    ['key-lost'],
  ],
])('%s is what the loss took', (_what, change, taken) => {
  expect(kinds(change)).toEqual({ violations: [], taken });
});

test.each<[string, Partial<Evidence>, ViolationKind]>([
  ['an ended and recorded run that repeats a step', { effects: again(1) }, 'effect-after-end'],
  ['a run that was accepted after the loss and repeats a step', { effects: again(3) }, 'effect-after-end'],
  [
    'a run that was stored and repeats a step that nobody may repeat',
    {
      effects: [effect(2, LOST_AT - 20, 'count'), effect(2, LOST_AT + 5_000, 'count')],
      effectsOf: { count: ['count'] },
    },
    'effect-twice',
  ],
  ['an ended run that ends again', { ended: [...whole.ended, ended(1, LOST_AT)] }, 'twice'],
  [
    'an event that was accepted after the loss and is gone',
    { ended: [ended(1, T), ended(2, LOST_AT - 50)] },
    'lost',
  ],
  [
    'more runs than events and runs that were stored',
    {
      listed: { count: 3 },
      totals: [{ workflow: 'count', accepted: 3, succeeded: 3, failed: 0, cancelled: 0, active: 0 }],
    },
    'twice',
  ],
  [
    'an event that was accepted after the loss and has no key',
    { keyed: { 'ev-a-2': 'count-2' } },
    'key-lost',
  ],
])('%s stays a violation', (_what, change, kind) => {
  expect(kinds(change).violations).toContain(kind);
});
