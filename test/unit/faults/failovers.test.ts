/** What a failover may take: runs of which no sender was told. And the times of failovers. */
import { expect, test } from 'vitest';
import { judge } from '../../faults/checker.ts';
import type { Effect } from '../../faults/effects.ts';
import type { Attempt, EndedRun, Evidence } from '../../faults/evidence.ts';
import { acceptedAfter, failoverKindsOf, measuresOf } from '../../faults/topology/run.ts';
import type { ViolationKind } from '../../faults/violation.ts';

const T = 1_700_000_000_000;
const FAILOVER = { from: T + 1_000, until: T + 9_000 };
const EVENT = 'ev-a-1';

const attempt = (at: number, rest: Partial<Attempt>): Attempt => ({ at, ms: 5, connection: 'new', ...rest });
const refused = attempt(T + 1_500, { status: 503, problem: 'run-store-unavailable', retryAfter: 1 });
const accepted = attempt(T + 10_000, { status: 200, run: 'call-2' });
const ended = (run: string): EndedRun => ({
  run,
  workflow: 'call',
  phase: 'Succeeded',
  acceptedAt: T + 10_000,
  endedAt: T + 10_100,
});
const effect = (run: string, at: number, kind: Effect['kind'] = 'http'): Effect => ({
  kind,
  event: EVENT,
  key: `${run}/call/1`,
  at,
  run,
  node: 'call',
});
const totals = (succeeded: number) => [
  { workflow: 'call', accepted: succeeded, succeeded, failed: 0, cancelled: 0, active: 0 },
];
const history = { run: 'call-2', uid: 'b', workflow: 'call', event: EVENT, phases: ['none', 'Succeeded'] };

/**
 * An event that was refused, whose run `call-1` did its step, and that was accepted as `call-2`
 * afterwards.
 */
const whole: Evidence = {
  events: [{ id: EVENT, workflow: 'call', attempts: [refused, accepted] }],
  effects: [effect('call-1', T + 1_600), effect('call-2', T + 10_050)],
  ended: [ended('call-2')],
  histories: [history],
  totals: totals(1),
  faults: [],
  effectsOf: { call: ['http'] },
  keyed: { [EVENT]: 'call-2' },
  failovers: [FAILOVER],
};

const judged = (change: Partial<Evidence>) => {
  const { violations, taken } = judge({ ...whole, ...change });
  return { violations: violations.map(({ kind }) => kind), taken: taken.map(({ run }) => run) };
};

test('a failover may take a run of which no sender was told, also one that the operator restored', () => {
  expect(judged({})).toEqual({ violations: [], taken: ['call-1'] });
  const restored = { ended: [ended('call-1'), ended('call-2')], totals: totals(2) };
  expect(judged(restored)).toEqual({ violations: [], taken: ['call-1'] });
});

/** A run that ended before the failover: its summary was read then, and it is not counted any more. */
const listed = (acceptedAt: number): Partial<Evidence> => ({
  effects: [effect('call-2', T + 10_050)],
  ended: [{ ...ended('call-1'), acceptedAt, endedAt: acceptedAt + 100 }, ended('call-2')],
});

test('a failover may take a run of which only the summary is left that was read before', () => {
  expect(judged(listed(T + 500))).toEqual({ violations: [], taken: ['call-1'] });
});

test.each<[string, Partial<Evidence>, ViolationKind]>([
  ['a run with a summary that was accepted long before', listed(T - 5_000), 'totals-differ'],
  ['a run outside of a failover', { failovers: [] }, 'lost'],
  [
    'a run that a sender was told of',
    {
      events: [
        {
          id: EVENT,
          workflow: 'call',
          attempts: [refused, attempt(T + 900, { status: 200, run: 'call-1' }), accepted],
        },
      ],
    },
    'lost',
  ],
  ['a run whose event lost its key', { keyed: {} }, 'key-lost'],
  [
    'an AtMostOnce step that was done',
    {
      effects: [effect('call-1', T + 1_600, 'count'), effect('call-2', T + 10_050, 'count')],
      effectsOf: { call: ['count'] },
    },
    'effect-under-two-keys',
  ],
])('it does not excuse %s', (_what, change, kind) => {
  expect(judged(change).violations).toContain(kind);
});

test('what was accepted after a promotion was sent after it', () => {
  const events = [
    { id: 'ev-a-0', workflow: 'call', attempts: [attempt(T, { status: 200, ms: 5_000 })] },
    { id: 'ev-a-2', workflow: 'call', refusal: 404, attempts: [attempt(T + 2_000, { status: 200 })] },
    whole.events[0] as Evidence['events'][number],
  ];
  expect(acceptedAfter(events, T + 1_000)).toBeCloseTo(9.005);
  expect(acceptedAfter([], T)).toBe(Infinity);
});

test('measures give the median and the longest time of each kind', () => {
  const done = [3, 1, 2].map((seconds) => ({
    kind: 'kill' as const,
    promoted: seconds,
    accepted: seconds / 10,
  }));
  expect(measuresOf(done)).toEqual([
    { what: 'kill: fault to promotion, median and longest', seen: '2.0 s, 3.0 s' },
    {
      what: 'kill: promotion to the first event that is accepted, median and longest',
      seen: '0.2 s, 0.3 s',
      promised: 'at most 10 s',
    },
  ]);
});

test('an unknown kind of failover is refused', () => {
  expect(failoverKindsOf([])).toEqual(['kill', 'freeze', 'partition', 'empty']);
  expect(() => failoverKindsOf(['killed'])).toThrow('choose from kill, freeze, partition, empty');
});
