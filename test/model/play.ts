/** Plays one history in a project of its own, and then lets everything come to its end: no run may be left over, and no count. */
import { randomUUID } from 'node:crypto';
import { keysOf } from '../../runs/keys.ts';
import { createCaller } from './clients/caller.ts';
import { createOperator, type Operator } from './clients/operator.ts';
import { createRecording, type Recorder } from './clients/recorder.ts';
import { createRunner, type Runner } from './clients/runner.ts';
import { settle } from './settle.ts';
import type { Step } from './history.ts';
import { createStage, type Stage } from './stage.ts';
import type { Server } from './watched.ts';

export type Clients = {
  stage: Stage;
  /** Those that live. */
  runners: Runner[];
  recorders: Recorder[];
  operators: Operator[];
  caller: ReturnType<typeof createCaller>;
};

const RUNNERS = 3;
/** Steps until an operator has noticed that the store has lost its data. */
const NOTICED_AFTER = 4;
const PLENTY_BYTES = 2 ** 30;
const RUN_KEPT_MS = 10_000;
const KEY_KEPT_MS = 7 * 24 * 3_600_000;
const REPLY_KEPT_MS = 3_600_000;

/** What is wrong with the first step that shows anything, and which step that was; undefined where all is well. */
export type Finding = { step: number; problems: string[] };

/** Plays the steps and the end; stops at the first step that shows something wrong. */
export async function play(server: Server, steps: readonly Step[]): Promise<Finding | undefined> {
  const stage = createStage(server, randomUUID());
  const clients = clientsOf(stage);
  const { problems } = stage;
  const expiry = createExpiry(stage);
  try {
    await clients.operators[0]?.seed();
    let closedFor = 0;
    for (const [index, step] of steps.entries()) {
      await playStep(clients, step, expiry);
      closedFor = stage.store.state().id === undefined ? closedFor + 1 : 0;
      if (closedFor > NOTICED_AFTER) await clients.operators[0]?.seed();
      if (problems.length > 0) return { step: index + 1, problems };
    }
    await settle(clients, expiry);
    return problems.length > 0 ? { step: steps.length + 1, problems } : undefined;
  } finally {
    await stage.store.leave();
  }
}

function clientsOf(stage: Stage): Clients {
  const several = <T>(make: (index: number) => T, count: number) => Array.from({ length: count }, (_, at) => make(at));
  return {
    stage,
    runners: several((index) => createRunner(stage, `runner-${index}`), RUNNERS),
    recorders: several(() => createRecording(stage), 2),
    operators: several(() => createOperator(stage), 2),
    caller: createCaller(stage),
  };
}

const one = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];

/** Of all runs and objects that there are, the one meant. */
function nameOf({ store, records }: Stage, index: number): string | undefined {
  const names = new Set([...Object.keys(store.state().runs), ...records.objects.keys()]);
  // Named after the time at which they came: the same history finds them in the same order.
  return one([...names].toSorted(), index);
}

async function playStep(clients: Clients, step: Step, expiry: Expiry): Promise<void> {
  const { network } = clients.stage;
  if (step.do === 'deliver') {
    if (network.delayed() > 0) await network.deliver(step.index);
  } else if (step.do === 'pass') await expiry.pass(step.ms);
  else if (step.do === 'lose') await lose(clients.stage);
  else if (step.do === 'api') clients.stage.records.become(step.is);
  else if (step.do === 'die') {
    const index = step.by % RUNNERS;
    clients.runners[index] = createRunner(clients.stage, `${clients.runners[index]?.name}'`);
  } else {
    const work = workOf(clients, step);
    await network.perform(step.fate, work);
    if ('again' in step && step.again) await network.perform(undefined, work);
  }
}

type Doing = Exclude<Step, { do: 'deliver' | 'pass' | 'lose' | 'die' | 'api' }>;

function workOf(clients: Clients, step: Doing): () => Promise<void> {
  const { stage, caller } = clients;
  const run = 'run' in step ? nameOf(stage, step.run) : undefined;
  const nothing = async () => undefined;
  switch (step.do) {
    case 'submit':
      return () => caller.submit(step);
    case 'cancel':
      return run === undefined ? nothing : () => caller.cancel(run);
    case 'makeObject':
      return async () => caller.makeObject(step.workflow);
    case 'deleteObject':
      return async () => (run === undefined ? undefined : caller.deleteObject(run));
    case 'record':
    case 'trim':
      return () => one(clients.recorders, step.by)?.[step.do]() ?? nothing();
    case 'limit':
    case 'quota':
    case 'budget':
    case 'reconcile':
    case 'restore':
    case 'seed':
      return () => operate(clients, step, run);
    default:
      return () => runnerStep(clients, step as Extract<Doing, { by: number }>);
  }
}

async function operate({ operators }: Clients, step: Step, run: string | undefined): Promise<void> {
  const operator = one(operators, 'by' in step ? step.by : 0);
  if (step.do === 'limit') {
    const { limit, policy, suspended } = step;
    return operator?.limit(step.workflow, { limit: limit === 0 ? undefined : limit, policy, suspended });
  }
  if (step.do === 'quota') return operator?.quotas({ [step.of]: step.isFull ? 1 : PLENTY_BYTES });
  if (step.do === 'budget') return operator?.budget(step.perSecond);
  if (step.do === 'reconcile') return run === undefined ? undefined : operator?.reconcile(run);
  if (step.do === 'restore') return run === undefined ? undefined : operator?.restore(run, step.version);
  return operator?.seed();
}

async function runnerStep({ runners }: Clients, step: Step): Promise<void> {
  const by = 'by' in step ? step.by : 0;
  const busy = runners.filter((runner) => runner.held() > 0);
  if (step.do === 'work') return one(busy, by)?.work(step.index, step.work, step.at);
  const runner = one(runners, by);
  if (step.do === 'claim') return runner?.claim(step.max);
  if (step.do === 'sweep' || step.do === 'beat' || step.do === 'takeOver' || step.do === 'wake' || step.do === 'leave')
    return runner?.[step.do]();
}

/** All that the store holds of the project is gone, as after FLUSHALL. */
async function lose({ store, ledger, records }: Stage): Promise<void> {
  await store.remove();
  ledger.lose();
  records.forgetVersions();
}

/** Time passes; keys whose time is over go. */
export type Expiry = { pass(ms: number): Promise<void> };

function createExpiry({ store, project, ledger }: Stage): Expiry {
  const { run } = keysOf(project);
  const until = new Map<string, number>();
  return {
    pass: async (ms) => {
      const { runs, keys, replies } = store.state();
      for (const [name, { dropped }] of Object.entries(runs))
        if (dropped && !until.has(run(name))) until.set(run(name), store.now() + RUN_KEPT_MS);
      for (const [key, { expires }] of Object.entries(keys))
        if (expires && !until.has(key)) until.set(key, store.now() + KEY_KEPT_MS);
      for (const key of Object.keys(replies))
        if (!until.has(key)) until.set(key, store.now() + REPLY_KEPT_MS);
      store.pass(ms);
      const over = [...until].flatMap(([key, at]) => (at <= store.now() ? [key] : []));
      for (const key of over) until.delete(key);
      ledger.forget(over.flatMap((key) => keys[key]?.run ?? []));
      await store.remove(over);
    },
  };
}
