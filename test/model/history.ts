/** A history: what clients do one after the other, and what becomes of their calls. Plain data, so that it can be shortened and shown. */
import fc from 'fast-check';
import { WORK, type Work } from './clients/runner.ts';
import type { ApiState } from './records.ts';
import { FATES, type Fate, type Receiver } from './network.ts';
import type { Quotas } from '../../runs/project.ts';
import { WORKFLOWS } from './workflows.ts';

/** `by`, `at`, `run` and `index` are taken modulo how many there are. */
export type Step = { fate?: Fate | undefined } & (
  | { do: 'submit'; workflow: string; key: number; body: number; again: boolean }
  | { do: 'claim'; by: number; max: number }
  | { do: 'work'; by: number; index: number; work: Work; at: number }
  | { do: 'sweep' | 'beat' | 'takeOver' | 'wake' | 'leave' | 'die'; by: number }
  | { do: 'cancel'; run: number; again: boolean }
  | { do: 'record' | 'trim'; by: number }
  | { do: 'limit'; workflow: string; limit: number; policy: 'Queue' | 'Reject' | 'Replace'; suspended: boolean }
  | { do: 'quota'; of: keyof Quotas; isFull: boolean }
  | { do: 'budget'; perSecond: number }
  | { do: 'makeObject'; workflow: string }
  | { do: 'deleteObject'; run: number }
  | { do: 'reconcile'; by: number; run: number }
  | { do: 'seed'; by: number }
  | { do: 'restore'; by: number; run: number; version: number }
  | { do: 'api'; is: ApiState }
  | { do: 'pass'; ms: number }
  | { do: 'lose' }
  | { do: 'deliver'; index: number }
);

/** What is held up lets others act in between, which shows most. */
const how = fc.constantFrom(...FATES, 'held', 'held');
const toStore = (last: number) => fc.record({ to: fc.constant<Receiver>('store'), at: fc.nat(last), how });
const toApi = fc.record({ to: fc.constant<Receiver>('api'), at: fc.nat(2), how });
/** One step in five has one. Most take few calls; those of recorders and the operator take many, and some to the API server. */
const mostly = (others: number, met: fc.Arbitrary<Fate>) =>
  fc.oneof({ weight: others, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: met });
const fate = mostly(4, toStore(2));
const fateOfMany = mostly(1, fc.oneof(toStore(12), toApi));
const by = fc.nat(2);
const workflow = fc.constantFrom(...WORKFLOWS);
const again = fc.boolean();
/** Sooner than a record, an end that has settled, a run that is kept, a lease, what is quarantined, a timeout, a dedupe key; and back. */
const PASSES_MS = [1, 400, 1_500, 1_500, 1_500, 6_000, 12_000, 40_000, 3_700_000, 700_000_000, -5_000];

/** Most of what a runner does leads on: runs that end at once meet nothing. */
const work = fc.constantFrom(
  ...WORK,
  ...(['start', 'start', 'start', 'start', 'succeed', 'succeed', 'reply', 'wait', 'wait', 'end'] as const),
);

const is = <T extends string>(...names: T[]) => fc.constantFrom(...names);

const limit = fc.record({
  do: is('limit'),
  workflow,
  limit: fc.nat(3),
  policy: is('Queue', 'Reject', 'Replace'),
  suspended: fc.nat(7).map((value) => value === 7),
  fate,
});

const STEPS = {
  submit: fc.record({ do: is('submit'), workflow, key: fc.nat(3), body: fc.nat(9).map((value) => (value === 9 ? 1 : 0)), again, fate }),
  claim: fc.record({ do: is('claim'), by, max: fc.integer({ min: 1, max: 3 }), fate }),
  work: fc.record({ do: is('work'), by, index: fc.nat(3), work, at: fc.nat(5), fate }),
  takeOver: fc.record({ do: is('takeOver'), by, fate }),
  comeAndGo: fc.record({ do: is('sweep', 'beat', 'leave', 'die'), by, fate }),
  wake: fc.record({ do: is('wake'), by, fate }),
  cancel: fc.record({ do: is('cancel'), run: fc.nat(7), again, fate }),
  record: fc.record({ do: is('record'), by, fate: fateOfMany }),
  trim: fc.record({ do: is('trim'), by, fate: fateOfMany }),
  limit,
  quota: fc.record({
    do: is('quota'),
    of: fc.constantFrom<keyof Quotas>('quota', 'claimQuota', 'keyQuota'),
    isFull: fc.boolean(),
    fate,
  }),
  budget: fc.record({ do: is('budget'), perSecond: fc.constantFrom(1, 2, 1_000), fate }),
  makeObject: fc.record({ do: is('makeObject'), workflow }),
  deleteObject: fc.record({ do: is('deleteObject'), run: fc.nat(7) }),
  reconcile: fc.record({ do: is('reconcile'), by, run: fc.nat(7), fate: fateOfMany }),
  seed: fc.record({ do: is('seed'), by, fate: fateOfMany }),
  restore: fc.record({ do: is('restore'), by, run: fc.nat(7), version: fc.nat(3), fate }),
  api: fc.record({ do: is('api'), is: fc.constantFrom<ApiState>('up', 'refused', 'unanswered', 'lost') }),
  pass: fc.record({ do: is('pass'), ms: fc.constantFrom(...PASSES_MS) }),
  lose: fc.record({ do: is('lose') }),
  deliver: fc.record({ do: is('deliver'), index: fc.nat(5) }),
};

type Weights = Partial<Record<keyof typeof STEPS, number>>;

/** Each history is about one thing more than about others: where all is equally likely, nothing goes far. */
const THEMES: Weights[] = [
  // Everything.
  { comeAndGo: 4, cancel: 3, record: 5, trim: 2, limit: 2, quota: 1, budget: 1, makeObject: 1, deleteObject: 1, reconcile: 2, seed: 1, lose: 1, takeOver: 3, wake: 3, restore: 1, api: 1 },
  // Runners that come, die, and wait.
  { comeAndGo: 8, takeOver: 10, wake: 6, cancel: 2 },
  // Limits and those who wait for a slot.
  { submit: 10, limit: 5, quota: 3, wake: 5, cancel: 4, takeOver: 2, comeAndGo: 2 },
  // Records that are late, surplus, deleted.
  { submit: 10, record: 14, trim: 10, api: 8, budget: 2, makeObject: 2, deleteObject: 2, reconcile: 3, cancel: 6, pass: 12 },
  // Losses of data.
  { record: 14, lose: 4, seed: 8, reconcile: 4, restore: 6, api: 3, makeObject: 2, takeOver: 2, deleteObject: 1, pass: 12 },
];
const ALWAYS: Weights = { submit: 9, claim: 12, work: 24, pass: 7, deliver: 6 };

function themed(theme: Weights, longest: number) {
  const weights = Object.entries({ ...ALWAYS, ...theme }) as [keyof typeof STEPS, number][];
  const step = fc.oneof(...weights.map(([name, weight]) => ({ weight, arbitrary: STEPS[name] as fc.Arbitrary<unknown> })));
  return fc.array(step, { minLength: 5, maxLength: longest, size: 'max' });
}

/** Histories of up to so many steps, after some that set limits and bring events. */
export function histories(longest: number): fc.Arbitrary<Step[]> {
  const steps = fc.oneof(...THEMES.map((theme) => themed(theme, longest)));
  const limits = fc.array(limit, { maxLength: 2 });
  const events = fc.array(STEPS.submit, { minLength: 1, maxLength: 4 });
  // As long and as varied from the first history on as later: they would begin short.
  return fc.noBias(fc.tuple(limits, events, steps).map((parts) => parts.flat() as Step[]));
}

/** A history as lines to read. */
export function historyText(steps: readonly Step[]): string {
  return steps
    .map(({ do: name, fate: met, ...rest }, index) => {
      const values = Object.entries(rest).map(([key, value]) => `${key}=${value}`);
      const becomes = met ? [`(call ${met.at} to the ${met.to} is ${met.how})`] : [];
      return [String(index + 1).padStart(3), name, ...values, ...becomes].join(' ');
    })
    .join('\n');
}
