/** Plays one history in a project of its own, and then lets everything come to its end: no run may be left over, and no count. */
import { randomUUID } from 'node:crypto';
import { createCaller } from './clients/caller.ts';
import { createOperator } from './clients/operator.ts';
import { createRecording } from './clients/recorder.ts';
import { createRunner } from './clients/runner.ts';
import { doStep, one, type Clients } from './doing.ts';
import { createExpiry, type Expiry } from './expiry.ts';
import type { Step } from './history.ts';
import { settle } from './settle.ts';
import { createStage, type Stage } from './stage.ts';
import type { Server } from './watched.ts';

const RUNNERS = 3;
/** Steps until an operator has noticed that the store has lost its data. */
const NOTICED_AFTER = 4;

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
  const several = <T>(make: (index: number) => T, count: number) =>
    Array.from({ length: count }, (_, at) => make(at));
  return {
    stage,
    runners: several((index) => createRunner(stage, `runner-${index}`), RUNNERS),
    recorders: several(() => createRecording(stage), 2),
    operators: several(() => createOperator(stage), 2),
    caller: createCaller(stage),
  };
}

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
  else if (step.do === 'lose') await lose(clients.stage, expiry);
  else if (step.do === 'api') clients.stage.records.become(step.is);
  else if (step.do === 'die') {
    const index = step.by % RUNNERS;
    clients.runners[index] = createRunner(clients.stage, `${clients.runners[index]?.name}'`);
  } else {
    const named = 'run' in step ? nameOf(clients.stage, step.run) : '';
    // There is no run yet.
    if (named === undefined) return;
    const work = () => doStep(clients, step, named);
    await network.perform(step.fate, work);
    if ('again' in step && step.again) await network.perform(undefined, work);
  }
}

/** All that the store holds of the project is gone, as after FLUSHALL. */
async function lose({ store, ledger, records }: Stage, expiry: Expiry): Promise<void> {
  await store.remove();
  expiry.lose();
  ledger.lose();
  records.forgetVersions();
}
