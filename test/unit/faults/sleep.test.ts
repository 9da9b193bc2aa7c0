/**
 * Projects that sleep and wake under faults, with one promise broken at a time: the checker finds each. A run
 * in which too little slept, woke or was killed does not count.
 */
import { expect, test } from 'vitest';
import type { Effect } from '../../faults/effects.ts';
import type { Attempt, EndedRun, Evidence, FaultRecord, SentEvent } from '../../faults/evidence.ts';
import type { ViolationKind } from '../../faults/violation.ts';
import { checkSleep } from '../../faults/sleep/checker.ts';
import {
  MOMENTS,
  VICTIMS,
  type PoolChange,
  type SleepEvidence,
  type SleepingProject,
} from '../../faults/sleep/evidence.ts';
import { isAtMoment, sleepFigures, tooFew } from '../../faults/sleep/figures.ts';
import { planKills } from '../../faults/sleep/kills.ts';
import { SENT, timesOf, WAIT_MS } from '../../faults/sleep/workflows.ts';

/** A full hour, from which all times of this module count. */
const T = Date.parse('2026-03-02T09:00:00Z');
const SECOND = 1_000;
const PROJECT = 'faults-a';
const eventOf = (workflow: string) =>
  `ev-a-${['note', 'reply', 'wait', 'ask', 'mail'].indexOf(workflow) + 1}`;

const accepted = (rest: Partial<Attempt> = {}): Attempt => ({
  at: T,
  ms: 5,
  connection: 'new',
  status: 200,
  ...rest,
});
const sent = (workflow: string, rest: Partial<Attempt> = {}): SentEvent => ({
  id: eventOf(workflow),
  workflow,
  attempts: [accepted({ run: `${workflow}-1`, ...rest })],
});
const ended = (run: string, seconds: number, rest: Partial<EndedRun> = {}): EndedRun => ({
  run,
  workflow: run.split('-')[0] ?? '',
  phase: 'Succeeded',
  acceptedAt: T,
  endedAt: T + seconds * SECOND,
  ...rest,
});
const counted = (workflow: string, node: string, seconds: number): Effect => ({
  kind: 'count',
  event: eventOf(workflow),
  key: `${PROJECT}/${workflow}-1/${node}/1`,
  at: T + seconds * SECOND,
  run: `${workflow}-1`,
  node,
});
const WAIT_S = WAIT_MS / SECOND;
const CALLED_S = 60;

const ends: EndedRun[] = [
  ended('note-1', 6),
  ended('reply-1', 6),
  ended('wait-1', 6 + WAIT_S),
  ended('ask-1', CALLED_S + 5),
  ended('tick-1', 5),
  ended('mail-1', 6),
];
const effects: Effect[] = [
  counted('note', 'first', 4),
  counted('note', 'second', 5),
  counted('reply', 'first', 4),
  counted('wait', 'first', 4),
  counted('wait', 'second', 5 + WAIT_S),
  counted('ask', 'first', 4),
  counted('ask', 'second', CALLED_S + 4),
  counted('mail', 'first', 5),
];
const evidence: Evidence = {
  events: [sent('note'), sent('reply', { event: eventOf('reply') }), sent('wait'), sent('ask')],
  effects,
  ended: ends,
  histories: ends.map(({ run, workflow }) => ({
    run,
    uid: run,
    workflow,
    event: workflow === 'tick' ? '' : eventOf(workflow),
    phases: ['Running', 'Succeeded'],
  })),
  keyed: Object.fromEntries(['note', 'reply', 'wait', 'ask'].map((name) => [eventOf(name), `${name}-1`])),
  totals: ['note', 'reply', 'wait', 'ask', 'tick', 'inbox'].map((workflow) => ({
    workflow,
    accepted: 1,
    succeeded: 1,
    failed: 0,
    cancelled: 0,
    active: 0,
  })),
  faults: [],
  ...SENT,
};
const whole: SleepingProject = {
  project: PROJECT,
  evidence,
  times: [T],
  scheduled: [{ run: 'tick-1', schedule: 'tick', phase: 'Succeeded', time: T, acceptedAt: T + 3 * SECOND }],
  callbacks: [{ event: eventOf('ask'), at: T + CALLED_S * SECOND, isAnswered: true }],
  said: { [eventOf('ask')]: [eventOf('ask')] },
  mails: [{ event: eventOf('mail'), at: T + SECOND }],
};

const kindsOf = (changes: Partial<SleepingProject>) =>
  checkSleep({ projects: [{ ...whole, ...changes }] }).map(({ kind }) => kind);
const seen = (changes: Partial<Evidence>): Partial<SleepingProject> => ({
  evidence: { ...evidence, ...changes },
});
const withEnd = (run: string, rest: Partial<EndedRun>): Partial<SleepingProject> =>
  seen({ ended: ends.map((end) => (end.run === run ? { ...end, ...rest } : end)) });
const withEffect = (key: string, rest: Partial<Effect>): Partial<SleepingProject> =>
  seen({ effects: effects.map((effect) => (effect.key.includes(key) ? { ...effect, ...rest } : effect)) });
const again = (key: string, rest: Partial<Effect> = {}): Partial<SleepingProject> =>
  seen({
    effects: effects.flatMap((effect) =>
      effect.key.includes(key) ? [effect, { ...effect, ...rest }] : effect,
    ),
  });
const late = (seconds: number) => ({ endedAt: T + seconds * SECOND });

test('projects in which every promise was kept show no violation', () => {
  expect(kindsOf({})).toEqual([]);
});

test.each<[string, Partial<SleepingProject>, ViolationKind[]]>([
  ['the run of an event does not end', seen({ ended: ends.slice(1) }), ['lost', 'totals-differ']],
  [
    'an event was never accepted',
    seen({
      events: [...evidence.events, { ...sent('note'), id: 'ev-a-9', attempts: [] }],
    }),
    ['never-accepted'],
  ],
  [
    'an event has two runs',
    again('note-1/first', { run: 'note-2', key: 'b/note-2/first/1' }),
    ['lost', 'twice', 'another-run', 'effect-under-two-keys'],
  ],
  ['a counted step is done twice', again('note-1/second'), ['effect-twice']],
  ['the step after a wait is done twice', again('wait-1/second'), ['effect-twice']],
  ['the step after a callback is done twice', again('ask-1/second'), ['effect-twice']],
  ['a run that succeeded lacks a step', seen({ effects: effects.slice(1) }), ['effect-missing']],
  [
    'a run is in doubt',
    withEnd('note-1', { phase: 'Failed', reason: 'EffectUnknown' }),
    ['phase-changed', 'failed'],
  ],
  ['a wait ends too early', withEffect('wait-1/second', { at: T + 60 * SECOND }), ['early']],
  ['a wait ends two minutes late', withEnd('wait-1', late(6 + WAIT_S + 121)), ['late']],
  ['a callback resumes its run two minutes late', withEnd('ask-1', late(CALLED_S + 121)), ['late']],
  ['an event is executed two minutes late', withEnd('note-1', late(121)), ['late']],
  ['a mail is executed two minutes after it was accepted', withEnd('mail-1', late(121)), ['late']],
  ['a time of a schedule has no run', { scheduled: [] }, ['lost']],
  [
    'a time of a schedule has two runs',
    { scheduled: [...whole.scheduled, { ...whole.scheduled[0]!, run: 'tick-2' }] },
    ['twice'],
  ],
  ['the run of a schedule fails', { scheduled: [{ ...whole.scheduled[0]!, phase: 'Failed' }] }, ['failed']],
  [
    'a callback is never accepted',
    { callbacks: [{ ...whole.callbacks[0]!, isAnswered: false }] },
    ['never-accepted'],
  ],
  [
    'a callback resumes its run with another body',
    { said: { [eventOf('ask')]: ['other'] } },
    ['wrong-answer'],
  ],
  ['a mail has no run', { mails: [{ event: 'ev-a-9', at: T }] }, ['lost']],
  ['a mail has two runs', again('mail-1/first', { run: 'mail-2', key: 'b/mail-2/first/1' }), ['twice']],
  ['the step of a mail is done twice', again('mail-1/first'), ['effect-twice']],
  ['the run of a mail does not end', seen({ ended: ends.filter(({ run }) => run !== 'mail-1') }), ['lost']],
])('%s', (_what, changes, kinds) => {
  expect(kindsOf(changes)).toEqual(kinds);
});

/**
 * The pool has a runner, sleeps from the 10th second before T on, wakes three seconds after it, and so on.
 */
const changes: PoolChange[] = [
  [-100, 1],
  [-50, 0],
  [-40, 1],
  [-10, 0],
  [3, 1],
].map(([seconds = 0, replicas = 0]) => ({ project: PROJECT, at: T + seconds * SECOND, replicas }));

const killed = (name: string, seconds: number, victim = 'redis'): FaultRecord => ({
  number: 1,
  kind: `kill-${victim}`,
  target: victim,
  at: T + seconds * SECOND,
  endedAt: T + seconds * SECOND,
  loadBefore: 0,
  moment: { name, project: PROJECT, at: T },
});
const AT: Record<string, number> = { asleep: -9, woken: 4, accepted: 1, due: -1 };
const kills = MOMENTS.flatMap((name) => VICTIMS.map((victim) => killed(name, AT[name] ?? 0, victim)));
const calledAsleep = [1, 2].map((seconds) => ({
  event: eventOf('ask'),
  at: T + seconds * SECOND,
  isAnswered: true,
}));
const called: SleepingProject = { ...whole, callbacks: [...whole.callbacks, ...calledAsleep] };
const all: SleepEvidence = { projects: [called], changes, faults: kills };

test.each([
  ['asleep', -9, true],
  ['asleep', -4, false],
  ['woken', 4, true],
  ['woken', -9, false],
  ['accepted', 1, true],
  // The pool has replicas again, but the event was accepted before.
  ['accepted', 4, true],
  ['accepted', 6, false],
  ['due', -1, true],
  ['due', -13, false],
  ['due', CALLED_S - 1, true],
  // The call came in the millisecond of the kill.
  ['due', CALLED_S, true],
  ['due', CALLED_S + 1, false],
  ['due', WAIT_S - 1, true],
  ['due', 90, false],
])('a kill at the moment "%s", %i s after an hour: %s', (name, seconds, isMet) => {
  expect(isAtMoment(killed(name, seconds), all)).toBe(isMet);
});

test('a kill of a project that nobody knows is at no moment', () => {
  const fault = { ...killed('due', -1), moment: { name: 'due', project: 'other', at: T } };
  expect(isAtMoment(fault, all)).toBe(false);
});

test('a run with all moments and two sleeps of each project counts', () => {
  expect(tooFew(all)).toBeUndefined();
});

test.each<[string, Partial<SleepEvidence>, string]>([
  ['one sleep', { changes: changes.slice(2) }, 'faults-a slept 1 and woke 1 times'],
  [
    'no kill of a gateway just after a wake',
    { faults: kills.filter(({ kind, moment }) => kind !== 'kill-gateway' || moment?.name !== 'woken') },
    'no kill of gateway at the moment woken',
  ],
  [
    'a kill that came too late',
    { faults: kills.map((fault, index) => (index === 0 ? { ...fault, at: T + 30 * SECOND } : fault)) },
    'no kill of operator at the moment asleep',
  ],
  [
    'callbacks to projects that were awake',
    { projects: [whole] },
    'callbacks called while the runners slept: 0',
  ],
])('a run with %s does not count', (_what, change, told) => {
  expect(tooFew({ ...all, ...change })).toBe(told);
});

const figure = (of: SleepEvidence, words: string) =>
  sleepFigures(of).find(({ what }) => what.startsWith(words))?.seen;

test('figures tell how long a sleeping project takes to its first node, with and without a kill near', () => {
  const calm = { ...all, faults: [] };
  expect(figure(calm, 'event accepted by a sleeping project')).toBe('1: p50 4.0 s, longest 4.0 s');
  expect(figure(calm, 'the same, with a kill near')).toBe('none');
  expect(figure(all, 'event accepted by a sleeping project')).toBe('none');
  expect(figure(all, 'the same, with a kill near')).toBe('1: p50 4.0 s, longest 4.0 s');
});

test('figures tell sleeps, wakes, kills and how late everything was', () => {
  expect(figure(all, 'projects; sleeps; wakes')).toBe('1; 2; 2');
  expect(figure(all, 'kills of operator, gateway, redis just before')).toBe('1, 1, 1');
  expect(figure(all, 'kills within 5 s')).toBe('10');
  expect(figure(all, 'waits')).toBe('1: p50 1.0 s, longest 1.0 s');
  expect(figure(all, 'callbacks')).toBe('1: p50 4.0 s, longest 4.0 s');
  expect(figure(all, 'callbacks that were first called while')).toBe('2');
  expect(figure(all, 'schedules')).toBe('1: p50 3.0 s, longest 3.0 s');
  expect(figure(all, 'mails')).toBe('1: p50 4.0 s, longest 4.0 s');
});

test('a plan kills each program once in three times at each moment, and is the same for the same seed', () => {
  const plan = planKills(7);
  expect(planKills(7)).toEqual(plan);
  for (const moment of MOMENTS) {
    for (let round = 0; round < 5; round += 1) {
      const kinds = plan[moment].slice(round * 3, round * 3 + 3).map(({ faults }) => faults[0]?.kind ?? '');
      expect(kinds.toSorted()).toEqual(['kill-gateway', 'kill-operator', 'kill-redis']);
    }
    expect(plan[moment].some(({ faults }) => faults.length === 2)).toBe(true);
  }
});

test.each([
  [0, ['09:00', '09:03', '09:06']],
  [1, ['09:01', '09:04']],
  [5, ['09:02', '09:05']],
])('the schedule of project %i comes at %j', (index, times) => {
  const found = timesOf(index, T, T + 6 * 60_000 + 1);
  expect(found.map((time) => new Date(time).toISOString().slice(11, 16))).toEqual(times);
});
