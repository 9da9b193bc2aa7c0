/** Who does what a step says. */
import type { createCaller } from './clients/caller.ts';
import type { Operator } from './clients/operator.ts';
import type { Recorder } from './clients/recorder.ts';
import type { Runner } from './clients/runner.ts';
import type { Step } from './history.ts';
import type { Harness } from './harness.ts';

export type Clients = {
  harness: Harness;
  /** Those that live. */
  runners: Runner[];
  recorders: Recorder[];
  operators: Operator[];
  caller: ReturnType<typeof createCaller>;
};

/** What clients do in calls that may meet a fate; the rest happens to them. */
export type Doing = Exclude<Step, { do: 'deliver' | 'pass' | 'lose' | 'die' | 'api' }>;

/** `run`: the name of the run or object that the step is about. */
type Doers = {
  [Name in Doing['do']]: (
    clients: Clients,
    step: Extract<Step, { do: Name }>,
    run: string,
  ) => Promise<void> | void | undefined;
};

export const PLENTY_BYTES = 2 ** 30;

/** One of several, by an index of any size. */
export function one<T>(items: readonly T[], index: number): T | undefined {
  return items[index % items.length];
}

/** A runner that holds something. */
function busy({ runners }: Clients, by: number): Runner | undefined {
  const holding = runners.filter((runner) => runner.inFlight() > 0);
  return one(holding, by);
}

const DOERS: Doers = {
  submit: ({ caller }, step) => caller.submit(step),
  cancel: ({ caller }, _, run) => caller.cancel(run),
  signal: ({ caller }, { at }, run) => caller.signal(run, at),
  makeObject: ({ caller }, { workflow }) => caller.makeObject(workflow),
  deleteObject: ({ caller }, _, run) => caller.deleteObject(run),
  claim: ({ runners }, { by, max }) => one(runners, by)?.claim(max),
  work: (clients, { by, index, work, at }) => busy(clients, by)?.work(index, work, at),
  endAll: (clients, { by }) => busy(clients, by)?.endAll(),
  sweep: ({ runners }, { by }) => one(runners, by)?.sweep(),
  beat: ({ runners }, { by }) => one(runners, by)?.beat(),
  takeOver: ({ runners }, { by }) => one(runners, by)?.takeOver(),
  wake: ({ runners }, { by }) => one(runners, by)?.wake(),
  startFailed: ({ runners }, { by }) => one(runners, by)?.startFailed(),
  leave: ({ runners }, { by }) => one(runners, by)?.leave(),
  record: ({ recorders }, { by }) => one(recorders, by)?.record(),
  trim: ({ recorders }, { by }) => one(recorders, by)?.trim(),
  limit: ({ operators }, { workflow, limit, policy, suspended }) =>
    one(operators, 0)?.limit(workflow, { limit: limit === 0 ? undefined : limit, policy, suspended }),
  quota: ({ operators }, { of, isFull }) => one(operators, 0)?.quotas({ [of]: isFull ? 1 : PLENTY_BYTES }),
  budget: ({ operators }, { perSecond }) => one(operators, 0)?.budget(perSecond),
  reconcile: ({ operators }, { by }, run) => one(operators, by)?.reconcile(run),
  restore: ({ operators }, { by, version }, run) => one(operators, by)?.restore(run, version),
  resume: ({ operators }, { by, failed }) => one(operators, by)?.resume(failed),
  seed: ({ operators }, { by }) => one(operators, by)?.seed(),
};

/** Does what the step says. */
export async function doStep(clients: Clients, step: Doing, run: string): Promise<void> {
  const doer = DOERS[step.do] as (clients: Clients, step: Doing, run: string) => Promise<void> | void;
  await doer(clients, step, run);
}
