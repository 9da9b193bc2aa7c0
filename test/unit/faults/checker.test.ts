/**
 * Evidence in which one promise is broken at a time: the checker finds each, and nothing in evidence that is
 * whole.
 */
import { expect, test } from 'vitest';
import { check } from '../../faults/checker.ts';
import type { ViolationKind } from '../../faults/violation.ts';
import type { Effect } from '../../faults/effects.ts';
import type { Attempt, EndedRun, Evidence, RunHistory, SentEvent, Totals } from '../../faults/evidence.ts';

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
  at: T + (kind === 'mail' ? 60 : 30),
  run: `mail-${number}`,
  node: kind === 'mail' ? 'mail' : 'agent',
});
const counted = (succeeded: number, rest: Partial<Totals> = {}): Totals[] => [
  { workflow: 'mail', accepted: 2, succeeded, failed: 0, cancelled: 0, active: 0, ...rest },
];

/**
 * Two events: one accepted at once, one whose first answer was lost; a refusal; a model that was asked twice
 * under one key.
 */
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
  keyed: { 'ev-a-1': 'mail-1', 'ev-a-2': 'mail-2' },
  orders: [['agent', 'mail']],
};

test('evidence in which every promise was kept shows no violation', () => {
  expect(check(whole)).toEqual([]);
});

test('a caller who is told that the run failed, since its effect is not repeated, is told the truth', () => {
  const changed = {
    ...whole,
    events: [sent(1, { attempts: [attempt({ status: 502, run: 'mail-1' })] }), ...whole.events.slice(1)],
    ended: [ended(1, { phase: 'Failed', reason: 'EffectUnknown' }), ended(2)],
    histories: [history(1, 'Running', 'Failed')],
    totals: counted(1, { failed: 1 }),
  };
  expect(check(changed)).toEqual([]);
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

const node = (phase: string, rest: object = {}) => ({ node: 'agent', phase, ...rest });
const withNodes = (...nodes: NonNullable<RunHistory['nodes']>): RunHistory => ({
  ...history(1, 'Running', 'Succeeded'),
  nodes,
});
const counts = (name: string): Effect => ({ ...effect('count', 1, name), node: name });
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
  [
    'a second run that only an effect names',
    'twice',
    { effects: [...whole.effects, { ...effect('model', 1), run: 'mail-9' }] },
  ],
  ['an event whose key the run store has lost', 'key-lost', { keyed: { 'ev-a-2': 'mail-2' } }],
  [
    'an answer that names another run than the key of its event',
    'another-run',
    { keyed: { ...whole.keyed, 'ev-a-1': 'mail-9' } },
  ],
  [
    'an effect of another run than that of the key',
    'another-run',
    { effects: [...without('mail', 'ev-a-1'), { ...effect('mail', 1), run: 'mail-9' }] },
  ],
  ['more accepted events than senders know', 'accepted-differs', { totals: counted(2, { accepted: 3 }) }],
  ['fewer accepted events than senders know', 'accepted-differs', { totals: counted(2, { accepted: 1 }) }],
  [
    'an accepted event that has no key, and of which nobody can say whether it was accepted',
    'accepted-differs',
    {
      events: [...whole.events, sent(4, { attempts: [attempt({ error: 'ECONNRESET' })] })],
      ended: [...whole.ended, ended(4)],
      totals: counted(3, { accepted: 3 }),
    },
  ],
  [
    'a model call after the end of its run, under the same key',
    'effect-after-end',
    { effects: [...whole.effects, { ...effect('model', 1), at: T + 1_000 }] },
  ],
  [
    'a model call after the mail that its answer was for',
    'node-ended-twice',
    {
      effects: [...whole.effects, { ...effect('model', 1), at: T + 400 }],
      ended: [ended(1, { endedAt: T + 500 }), ended(2)],
    },
  ],
  [
    'a node that a record showed at its end, and then running',
    'node-ended-twice',
    { histories: [withNodes(node('Succeeded'), node('Running')), history(2, 'Succeeded')] },
  ],
  [
    'a node that ended twice by its record',
    'node-ended-twice',
    {
      histories: [
        withNodes(node('Succeeded', { endedAt: '1' }), node('Succeeded', { endedAt: '2' })),
        history(2, 'Succeeded'),
      ],
    },
  ],
  [
    'a counted step that was done twice under one key',
    'effect-twice',
    {
      effects: [...whole.effects, counts('first'), counts('first')],
      effectsOf: { mail: ['model', 'mail', 'count'] },
    },
  ],
  [
    'a success with one of two counted steps',
    'effect-missing',
    {
      effects: [...whole.effects, counts('first')],
      effectsOf: { mail: ['model', 'mail', 'count', 'count'] },
    },
  ],
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
    'a 502 that says that a run failed which succeeded',
    'wrong-answer',
    { events: events(sent(1, { attempts: [attempt({ status: 502, run: 'mail-1' })] })) },
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
    keyed: {},
    ended: [
      reply('one', T + 2),
      reply('two', T + 1_003),
      reply('more', T + 1_500),
      reply('three', T + 2_001),
    ],
    histories: [{ ...history(2, 'Succeeded'), run: 'two', workflow: 'reply' }],
    totals: [{ workflow: 'reply', accepted: 3, succeeded: 4, failed: 0, cancelled: 0, active: 0 }],
  };
  expect(check(evidence)).toContainEqual({
    kind: 'twice',
    run: 'more',
    message: expect.stringContaining(
      'for more (Succeeded, started by webhook, accepted 2023-11-14T22:13:21.500Z)',
    ),
  });
});

test('an end that was counted twice is told from a run that nobody asked for', () => {
  const [found] = check({ ...whole, totals: counted(3, { active: -1 }) });
  expect(found).toMatchObject({
    kind: 'twice',
    message: expect.stringContaining('1 more than the run store accepted; 2 are listed'),
  });
});

test('a step that is tried again before it has ended breaks no promise', () => {
  const nodes = [node('Running'), node('Waiting', { attempts: 1 }), node('Running', { attempts: 2 })];
  const histories = [withNodes(...nodes, node('Succeeded', { attempts: 2 })), history(2, 'Succeeded')];
  expect(check({ ...whole, histories })).toEqual([]);
});

test('two counted steps of one event have a key each', () => {
  const effects = [
    ...whole.effects,
    ...['first', 'second'].flatMap((name) =>
      [1, 2].map((each) => ({
        ...effect('count', each, `${name}-${each}`),
        node: name,
      })),
    ),
  ];
  expect(check({ ...whole, effects, effectsOf: { mail: ['model', 'mail', 'count', 'count'] } })).toEqual([]);
});

test('while the clock of the run store is wrong, ends are compared by the clock of this machine', () => {
  const slips = [{ from: T - 1_000, until: T + 2_000, ms: -30_000 }];
  const wrong = [ended(1, { endedAt: T + 100 - 30_000 }), ended(2)];
  expect(check({ ...whole, ended: wrong }).map(({ kind }) => kind)).toContain('effect-after-end');
  expect(check({ ...whole, ended: wrong, slips })).toEqual([]);
});
