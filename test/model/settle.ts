/**
 * The end of a history: what was delayed arrives, everybody does their part, and nothing may be left over.
 */
import { isTerminal } from '../../api/phase.ts';
import { createRunner } from './clients/runner.ts';
import { PLENTY_BYTES, type Clients } from './doing.ts';
import type { Expiry } from './expiry.ts';
import type { Harness } from './harness.ts';
import { UNLIMITED, WORKFLOWS } from './workflows.ts';

const WRITES_PER_SECOND = 1_000_000;
/** As long as what is quarantined longest. */
const ROUND_MS = 700_000;
/** A run needs two: to be taken over and claimed, and to be recorded. Twice two deaths make four more. */
const ROUNDS = 10;
/** In the first round every second run fails, and failed runs are resumed, whatever the history was about. */
const FAILING_ROUNDS = 1;
const MOST_RESUMED = 5;

/** Brings everything to its end, and tells what has none. */
export async function settle(clients: Clients, expiry: Expiry): Promise<void> {
  const { harness } = clients;
  const { network, problems } = harness;
  harness.records.become('up');
  while (network.delayed() > 0) await network.deliver(0);
  for (let round = 1; round <= ROUNDS && problems.length === 0; round += 1) {
    await expiry.pass(ROUND_MS);
    const isFailing = round <= FAILING_ROUNDS;
    await network.perform(undefined, () => goOn(clients, { name: `last-${round}`, isFailing }));
    if (!isFailing && leftOvers(harness).length === 0) break;
  }
  problems.push(...leftOvers(harness));
}

type Round = { name: string; isFailing: boolean };

async function goOn({ harness, operators, recorders }: Clients, { name, isFailing }: Round): Promise<void> {
  const { store, records } = harness;
  const [operator] = operators;
  const [recorder] = recorders;
  if (!operator || !recorder) return;
  await operator.seed();
  await operator.quotas({
    quota: PLENTY_BYTES,
    claimQuota: PLENTY_BYTES,
    keyQuota: PLENTY_BYTES,
    unfinished: PLENTY_BYTES,
  });
  await operator.budget(WRITES_PER_SECOND);
  for (const workflow of WORKFLOWS) await operator.limit(workflow, UNLIMITED);
  for (const object of records.objects.keys()) await operator.reconcile(object);
  const runner = createRunner(harness, name);
  await runner.takeOver();
  await runner.wake();
  await runner.startFailed();
  const isReady = () => Object.values(store.state().runs).some(({ ready }) => ready !== undefined);
  for (let count = 0; isReady() && count < 50; count += 1) {
    await runner.claim(10);
    while (runner.inFlight() > 0) {
      if (isFailing) await runner.work(0, 'childInDoubt', 0);
      await runner.work(0, 'end', isFailing ? runner.inFlight() % 2 : 0);
    }
  }
  if (isFailing) for (let count = 0; count < MOST_RESUMED; count += 1) await operator.resume(count);
  await recorder.record();
  await recorder.record();
}

/**
 * Keys that never expire, runs that have not ended or are not recorded, and records without an end. Counts
 * and bytes follow: they agree with the runs.
 */
function leftOvers({ store, records }: Harness): string[] {
  const runs = Object.entries(store.state().runs).filter(([, { dropped }]) => !dropped);
  const objects = [...records.objects].filter(([, { status }]) => !isTerminal(status?.phase));
  const keys = Object.entries(store.state().keys).filter(([, { expires }]) => !expires);
  const failures = Object.keys(store.state().failures);
  return [
    ...failures.map((name) => `the failure of ${name} starts nothing, and is not forgotten`),
    ...keys.map(([name, { run }]) => `the key ${name} of ${run} never expires`),
    ...runs.map(([name, run]) => `${name} is left over: ${JSON.stringify(run)}`),
    ...objects.map(
      ([name, { status }]) => `the record of ${name} stays ${status?.phase ?? 'without a status'}`,
    ),
  ];
}
