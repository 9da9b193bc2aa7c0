/**
 * Plays one history in a project of its own, and then lets everything come to its end: no run may be left
 * over, and no count.
 */
import { randomUUID } from 'node:crypto';
import { createCaller } from './clients/caller.ts';
import { createOperator } from './clients/operator.ts';
import { createRecording } from './clients/recorder.ts';
import { createRunner } from './clients/runner.ts';
import { doStep, one, type Clients } from './doing.ts';
import { createExpiry, type Expiry } from './expiry.ts';
import type { Step } from './history.ts';
import { settle } from './settle.ts';
import { createHarness, type Harness } from './harness.ts';
import type { Server } from './watched.ts';

const RUNNERS = 3;
/** Steps until an operator has noticed that the store has lost its data. */
const NOTICED_AFTER = 4;

/**
 * What is wrong with the first step that shows anything, and which step that was; undefined where all is
 * well.
 */
export type Finding = { step: number; problems: string[] };

/** Plays the steps and the end; stops at the first step that shows something wrong. */
export async function play(server: Server, steps: readonly Step[]): Promise<Finding | undefined> {
  const harness = createHarness(server, randomUUID());
  const clients = clientsOf(harness);
  const { problems } = harness;
  const expiry = createExpiry(harness);
  try {
    await clients.operators[0]?.seed();
    let closedFor = 0;
    for (const [index, step] of steps.entries()) {
      await playStep(clients, step, expiry);
      closedFor = harness.store.state().id === undefined ? closedFor + 1 : 0;
      if (closedFor > NOTICED_AFTER) await clients.operators[0]?.seed();
      if (problems.length > 0) return { step: index + 1, problems };
    }
    await settle(clients, expiry);
    return problems.length > 0 ? { step: steps.length + 1, problems } : undefined;
  } finally {
    await harness.store.leave();
  }
}

function clientsOf(harness: Harness): Clients {
  const several = <T>(make: (index: number) => T, count: number) =>
    Array.from({ length: count }, (_, at) => make(at));
  return {
    harness,
    runners: several((index) => createRunner(harness, `runner-${index}`), RUNNERS),
    recorders: several(() => createRecording(harness), 2),
    operators: several(() => createOperator(harness), 2),
    caller: createCaller(harness),
  };
}

/** Of all runs and objects that there are, the one meant. */
function nameOf({ store, records }: Harness, index: number): string | undefined {
  const names = new Set([...Object.keys(store.state().runs), ...records.objects.keys()]);
  // Named after the time at which they came: the same history finds them in the same order.
  return one([...names].toSorted(), index);
}

async function playStep(clients: Clients, step: Step, expiry: Expiry): Promise<void> {
  const { network } = clients.harness;
  if (step.do === 'deliver') {
    if (network.delayed() > 0) await network.deliver(step.index);
  } else if (step.do === 'pass') await expiry.pass(step.ms);
  else if (step.do === 'lose') await lose(clients.harness, expiry);
  else if (step.do === 'api') clients.harness.records.become(step.is);
  else if (step.do === 'die') {
    const index = step.by % RUNNERS;
    clients.runners[index] = createRunner(clients.harness, `${clients.runners[index]?.name}'`);
  } else {
    const named = 'run' in step ? nameOf(clients.harness, step.run) : '';
    // There is no run yet.
    if (named === undefined) return;
    const work = () => doStep(clients, step, named);
    await network.perform(step.fate, work);
    if ('again' in step && step.again) await network.perform(undefined, work);
  }
}

/** All that the store holds of the project is gone, as after FLUSHALL. */
async function lose({ store, ledger, records }: Harness, expiry: Expiry): Promise<void> {
  await store.remove();
  expiry.lose();
  ledger.lose();
  records.forgetVersions();
}
