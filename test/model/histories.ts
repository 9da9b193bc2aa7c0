/**
 * Random histories: each about one thing more than about others, since nothing goes far where everything is
 * equally likely.
 */
import {
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  noBias,
  oneof,
  record,
  tuple,
  type Arbitrary,
} from 'fast-check';
import type { Quotas } from '../../runs/limits.ts';
import { WORK } from './clients/runner.ts';
import type { Step } from './history.ts';
import { FATES, type Fate, type Receiver } from './network.ts';
import type { ApiState } from './records.ts';
import { WORKFLOWS } from './workflows.ts';

/** A slow call lets others act in between, which shows most. */
const how = constantFrom(...FATES, 'slow', 'slow');
const toStore = (last: number) => record({ to: constant<Receiver>('store'), at: nat(last), how });
const toApi = record({ to: constant<Receiver>('api'), at: nat(2), how });
const mostly = (others: number, met: Arbitrary<Fate>) =>
  oneof({ weight: others, arbitrary: constant(undefined) }, { weight: 1, arbitrary: met });
/** Most steps take few calls; those of recorders and the operator take many, and some to the API server. */
const fate = mostly(4, toStore(2));
const fateOfMany = mostly(1, oneof(toStore(12), toApi));

const by = nat(2);
const run = nat(7);
const workflow = constantFrom(...WORKFLOWS);
const again = boolean();
const seldom = (times: number) => nat(times).map((value) => value === times);
const is = <T extends string>(...names: T[]) => constantFrom(...names);

/** Most of what a runner does leads on: runs that end at once meet nothing. */
const work = constantFrom(
  ...WORK,
  ...([
    'start',
    'start',
    'start',
    'start',
    'succeed',
    'succeed',
    'reply',
    'wait',
    'wait',
    'end',
    'fail',
    'fail',
    'endItem',
    'fail',
    'fail',
    'child',
    'child',
  ] as const),
);

/**
 * Sooner than a record, an end that has settled, a run that is kept, a lease, what is quarantined, a timeout,
 * a dedupe key; and back.
 */
const PASSES_MS = [1, 400, 1_500, 1_500, 1_500, 6_000, 12_000, 40_000, 3_700_000, 700_000_000, -5_000];

const STEPS = {
  submit: record({
    do: is('submit'),
    workflow,
    key: nat(3),
    body: seldom(9).map(Number),
    test: seldom(3),
    again,
    fate,
  }),
  claim: record({ do: is('claim'), by, max: integer({ min: 1, max: 3 }), fate }),
  work: record({ do: is('work'), by, index: nat(3), work, at: nat(5), fate }),
  /** Runs fail after some of their steps. */
  fail: record({
    do: is('work'),
    by,
    index: nat(3),
    work: is('succeed', 'fail', 'endItem'),
    at: nat(5),
    fate,
  }),
  endAll: record({ do: is('endAll'), by, fate }),
  takeOver: record({ do: is('takeOver'), by, fate: mostly(2, toStore(3)) }),
  beat: record({ do: is('beat'), by, fate }),
  comeAndGo: record({ do: is('sweep', 'leave', 'die'), by, fate }),
  startFailed: record({ do: is('startFailed'), by, fate: mostly(2, toStore(6)) }),
  wake: record({ do: is('wake'), by, fate }),
  cancel: record({ do: is('cancel'), run, again, fate }),
  signal: record({ do: is('signal'), run, at: nat(2), again, fate }),
  record: record({ do: is('record'), by, fate: fateOfMany }),
  trim: record({ do: is('trim'), by, fate: fateOfMany }),
  limit: record({
    do: is('limit'),
    workflow,
    limit: nat(3),
    policy: is('Queue', 'Reject', 'Replace'),
    suspended: seldom(7),
    fate,
  }),
  quota: record({
    do: is('quota'),
    of: constantFrom<keyof Quotas>('quota', 'claimQuota', 'keyQuota', 'unfinished'),
    isFull: boolean(),
    fate,
  }),
  budget: record({ do: is('budget'), perSecond: constantFrom(1, 2, 1_000), fate }),
  makeObject: record({ do: is('makeObject'), workflow }),
  deleteObject: record({ do: is('deleteObject'), run }),
  reconcile: record({ do: is('reconcile'), by, run, fate: fateOfMany }),
  resume: record({ do: is('resume'), by, failed: nat(3), fate: mostly(2, oneof(toStore(6), toApi)) }),
  seed: record({ do: is('seed'), by, fate: fateOfMany }),
  restore: record({ do: is('restore'), by, run, version: nat(3), fate }),
  api: record({ do: is('api'), is: constantFrom<ApiState>('up', 'refused', 'unanswered', 'lost') }),
  pass: record({ do: is('pass'), ms: constantFrom(...PASSES_MS) }),
  lose: record({ do: is('lose') }),
  deliver: record({ do: is('deliver'), index: nat(5) }),
};

/** How often a step comes, compared with the others. */
type Weights = Partial<Record<keyof typeof STEPS, number>>;

const ALWAYS: Weights = { submit: 9, claim: 12, work: 24, endAll: 2, pass: 7, deliver: 6, startFailed: 2 };

// biome-ignore format: a table
const EVERYTHING: Weights = {
  comeAndGo: 4, beat: 2, takeOver: 3, wake: 3, cancel: 3, limit: 2, quota: 1, record: 5, trim: 2, budget: 1,
  makeObject: 1, deleteObject: 1, reconcile: 2, seed: 1, restore: 1, lose: 1, api: 1, signal: 2, resume: 2,
};
/** Runners come, die, and wait. */
const RUNNERS: Weights = { comeAndGo: 6, beat: 8, takeOver: 12, wake: 6, cancel: 2 };
/** Runs park and are signaled meanwhile, before and after. */
// biome-ignore format: a table
const SIGNALS: Weights = {
  signal: 16, wake: 5, comeAndGo: 3, takeOver: 5, cancel: 2, quota: 2, limit: 2, lose: 1, seed: 2, record: 3,
};
/** Runs wait for a slot. */
const LIMITS: Weights = { submit: 10, limit: 5, quota: 3, wake: 5, cancel: 4, takeOver: 2, comeAndGo: 2 };
/** Records are late, pruned, deleted. */
// biome-ignore format: a table
const RECORDS: Weights = {
  submit: 10, record: 14, trim: 10, api: 8, pass: 12, cancel: 6, budget: 2,
  makeObject: 2, deleteObject: 2, reconcile: 3,
};
/** Runs fail, start others and are resumed, and the store loses its data. */
// biome-ignore format: a table
const FAILURES: Weights = {
  startFailed: 10, resume: 14, record: 14, fail: 30, takeOver: 6, lose: 4, seed: 6, restore: 4, reconcile: 3,
  quota: 2, limit: 2, cancel: 2, pass: 10,
};
/** The store loses its data. */
// biome-ignore format: a table
const LOSSES: Weights = {
  record: 14, lose: 4, seed: 8, reconcile: 4, restore: 6, api: 3, pass: 12, fail: 8, resume: 4,
  makeObject: 2, deleteObject: 1, takeOver: 2,
};

function about(theme: Weights, longest: number): Arbitrary<Step[]> {
  const weights = Object.entries({ ...ALWAYS, ...theme }) as [keyof typeof STEPS, number][];
  const step = oneof(
    ...weights.map(([name, weight]) => ({ weight, arbitrary: STEPS[name] as Arbitrary<Step> })),
  );
  return array(step, { minLength: 5, maxLength: longest, size: 'max' });
}

/** Histories of up to so many steps, after some that set limits and bring events. */
export function histories(longest: number): Arbitrary<Step[]> {
  const steps = oneof(
    ...[EVERYTHING, RUNNERS, SIGNALS, LIMITS, RECORDS, FAILURES, FAILURES, LOSSES].map((theme) =>
      about(theme, longest),
    ),
  );
  const limits = array(STEPS.limit, { maxLength: 2 });
  const events = array(STEPS.submit, { minLength: 1, maxLength: 4 });
  // As long and as varied from the first history on as later: they would begin short.
  return noBias(tuple(limits, events, steps).map((parts): Step[] => parts.flat()));
}
