/** Evidence in which one promise is broken at a time: the checker finds each, and nothing in evidence that is whole. */
import { expect, test } from 'vitest';
import { check, type ViolationKind } from '../../faults/checker.ts';
import type { Effect } from '../../faults/effects.ts';
import type { Attempt, EndedRun, Evidence, RunHistory, SentEvent } from '../../faults/evidence.ts';

const T = 1_700_000_000_000;

const attempt = (rest: Partial<Attempt> = {}): Attempt => ({ at: T, ms: 5, connection: 'new', ...rest });
const sent = (number: number, rest: Partial<SentEvent> = {}): SentEvent => ({
  id: `ev-a-${number}`,
  workflow: 'mail',
  attempts: [attempt({ status: 200, run: `mail-${number}` })],
  ...rest,
});
const ended = (number: number, rest: Partial<EndedRun> = {}): EndedRun => ({
  run: `mail-${number}`,
  workflow: 'mail',
  phase: 'Succeeded',
  acceptedAt: T,
  endedAt: T + 100,
  ...rest,
});
const history = (number: number, ...phases: string[]): RunHistory => ({
  run: `mail-${number}`,
  uid: `uid-${number}`,
  workflow: 'mail',
  event: `ev-a-${number}`,
  phases,
});
const effect = (kind: Effect['kind'], number: number, key = `${kind}-${number}`): Effect => ({
  kind,
  event: `ev-a-${number}`,
  key,
});
const counted = (succeeded: number, rest: object = {}) => [
  { workflow: 'mail', succeeded, failed: 0, cancelled: 0, active: 0, ...rest },
];

/** Two events: one accepted at once, one whose first answer was lost; a refusal; a model that was asked twice under one key. */
const whole: Evidence = {
  events: [
    sent(1),
    sent(2, {
      attempts: [
        attempt({ error: 'ECONNRESET' }),
        attempt({ status: 503, problem: 'run-store-unavailable', retryAfter: 1 }),
        attempt({ status: 200, run: 'mail-2' }),
      ],
    }),
    sent(3, { workflow: 'refused', refusal: 422, attempts: [attempt({ status: 422 })] }),
  ],
  effects: [effect('model', 1), effect('mail', 1), effect('model', 2), effect('model', 2), effect('mail', 2)],
  ended: [ended(1), ended(2)],
  histories: [history(1, 'Running', 'Succeeded'), history(2, 'none', 'Running', 'Succeeded')],
  totals: counted(2),
  faults: [{ number: 1, kind: 'kill-redis', target: 'redis', at: T, endedAt: T + 5, loadBefore: 50 }],
  effectsOf: { mail: ['model', 'mail'] },
};

test('evidence in which every promise was kept shows no violation', () => {
  expect(check(whole)).toEqual([]);
});

test('a run that failed because a mail may have been sent is as declared', () => {
  const unknown = ended(1, { phase: 'Failed', reason: 'EffectUnknown' });
  const changed = {
    ...whole,
    ended: [unknown, ended(2)],
    effects: whole.effects.filter(({ kind, event }) => kind !== 'mail' || event !== 'ev-a-1'),
    histories: [history(1, 'Running', 'Failed')],
    totals: counted(1, { failed: 1 }),
  };
  expect(check(changed)).toEqual([]);
});

const events = (...changed: SentEvent[]) => [...changed, ...whole.events.slice(changed.length)];
const without = (kind: Effect['kind'], event: string) =>
  whole.effects.filter((each) => each.kind !== kind || each.event !== event);

test.each<[string, ViolationKind, Partial<Evidence>]>([
  ['an accepted event without the end of its run', 'lost', { ended: [ended(1)], totals: counted(1) }],
  ['a run that goes on', 'lost', { totals: counted(1, { active: 1 }) }],
  [
    'an answer that names no run, and one run too few in the totals',
    'lost',
    {
      events: events(sent(1, { attempts: [attempt({ status: 200 })] })),
      ended: [ended(2)],
      totals: counted(1),
    },
  ],
  [
    'an event that was never accepted',
    'never-accepted',
    { events: events(sent(1, { attempts: [attempt({ error: 'ECONNREFUSED' })] })) },
  ],
  [
    'two answers that name two runs',
    'twice',
    {
      events: events(
        sent(1, {
          attempts: [attempt({ status: 200, run: 'mail-1' }), attempt({ status: 200, run: 'mail-9' })],
        }),
      ),
    },
  ],
  [
    'a second run that only its record knows',
    'twice',
    { histories: [{ ...history(1, 'Running', 'Succeeded'), run: 'mail-9' }] },
  ],
  ['a run that ended twice', 'twice', { ended: [ended(1), ended(1), ended(2)], totals: counted(3) }],
  ['more runs in the totals than events', 'twice', { totals: counted(3) }],
  ['two mails under one key', 'effect-twice', { effects: [...whole.effects, effect('mail', 1)] }],
  [
    'two model calls under two keys',
    'effect-under-two-keys',
    { effects: [...whole.effects, effect('model', 1, 'another')] },
  ],
  ['a success without its mail', 'effect-missing', { effects: without('mail', 'ev-a-1') }],
  ['a success without its model call', 'effect-missing', { effects: without('model', 'ev-a-1') }],
  [
    'an effect of an event that was clearly refused',
    'effect-of-nothing',
    { events: events(sent(1, { attempts: [attempt({ status: 429, problem: 'too-many-runs' })] })) },
  ],
  [
    'an effect of an event that deserved a refusal',
    'refused-and-run',
    { effects: [...whole.effects, effect('mail', 3)] },
  ],
  [
    'a record of an event that deserved a refusal',
    'refused-and-run',
    { histories: [...whole.histories, history(3, 'Running')] },
  ],
  [
    'a success that becomes a failure',
    'phase-changed',
    { histories: [history(1, 'Running', 'Succeeded', 'Failed')] },
  ],
  ['a success that runs again', 'phase-changed', { histories: [history(1, 'Succeeded', 'Running')] }],
  [
    'a record that says other than the run store',
    'phase-changed',
    { histories: [history(1, 'Running', 'Failed')] },
  ],
  ['runs that ended, and no record that was seen to say so', 'not-recorded', { histories: [] }],
  [
    'a run that ended too long after the last fault',
    'late',
    { ended: [ended(1, { endedAt: T + 120_006 }), ended(2)] },
  ],
  [
    'a run that failed for another reason',
    'failed',
    { ended: [ended(1, { phase: 'Failed', reason: 'NodeFailed' }), ended(2)] },
  ],
  ['a run that was cancelled', 'failed', { ended: [ended(1, { phase: 'Cancelled' }), ended(2)] }],
  [
    'a 404 in between',
    'wrong-answer',
    {
      events: events(
        sent(1, { attempts: [attempt({ status: 404 }), attempt({ status: 200, run: 'mail-1' })] }),
      ),
    },
  ],
  [
    'a 500 in between',
    'wrong-answer',
    {
      events: events(
        sent(1, { attempts: [attempt({ status: 500 }), attempt({ status: 200, run: 'mail-1' })] }),
      ),
    },
  ],
  [
    'a 503 of the gateway that does not say when to come again',
    'wrong-answer',
    {
      events: events(
        sent(1, {
          attempts: [
            attempt({ status: 503, problem: 'run-store-unavailable' }),
            attempt({ status: 200, run: 'mail-1' }),
          ],
        }),
      ),
    },
  ],
  [
    'a refusal with another status than deserved',
    'wrong-answer',
    {
      events: [
        ...whole.events.slice(0, 2),
        sent(3, { workflow: 'refused', refusal: 422, attempts: [attempt({ status: 400 })] }),
      ],
    },
  ],
  [
    'the answer to another event',
    'wrong-answer',
    { events: events(sent(1, { attempts: [attempt({ status: 200, event: 'ev-a-2' })] })) },
  ],
  [
    'a run that is counted and not listed',
    'totals-differ',
    {
      ended: [ended(2)],
      totals: counted(2),
      events: events(sent(1, { attempts: [attempt({ status: 200 })] })),
    },
  ],
])('%s is found as %s', (_what, kind, change) => {
  expect(check({ ...whole, ...change }).map((violation) => violation.kind)).toContain(kind);
});

const answered = (number: number, at: number) =>
  sent(number, { workflow: 'reply', attempts: [attempt({ at, status: 200, event: `ev-a-${number}` })] });
const reply = (name: string, acceptedAt: number) =>
  ended(0, { run: name, workflow: 'reply', acceptedAt, endedAt: acceptedAt + 1, trigger: 'webhook' });

test('of more runs than events the one that no event accounts for is named, also where no answer names a run', () => {
  const evidence: Evidence = {
    ...whole,
    events: [answered(1, T), answered(2, T + 1_000), answered(3, T + 2_000)],
    effects: [],
    ended: [
      reply('one', T + 2),
      reply('two', T + 1_003),
      reply('more', T + 1_500),
      reply('three', T + 2_001),
    ],
    histories: [{ ...history(2, 'Succeeded'), run: 'two', workflow: 'reply' }],
    totals: [{ workflow: 'reply', succeeded: 4, failed: 0, cancelled: 0, active: 0 }],
  };
  expect(check(evidence)).toEqual([
    {
      kind: 'twice',
      run: 'more',
      message: expect.stringContaining(
        'for more (Succeeded, started by webhook, accepted 2023-11-14T22:13:21.500Z)',
      ),
    },
  ]);
});

test('an end that was counted twice is told from a run that nobody asked for', () => {
  const [found] = check({ ...whole, totals: counted(3, { active: -1 }) });
  expect(found).toMatchObject({
    kind: 'twice',
    message: expect.stringContaining('1 more than the run store accepted; 2 are listed'),
  });
});
