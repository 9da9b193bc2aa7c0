/** A fault run: one fault of the plan after the other, each when nothing is left of the one before. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRecord } from './evidence.ts';
import { inject } from './inject.ts';
import { underLoad, type FaultRun, type Load as AnyLoad } from './load.ts';
import type { PlannedFault } from './plan.ts';
import { NotSteady, steadyLoad, untilRecovered } from './recovery.ts';
import type { Harness } from './harness.ts';
import { targetsOf } from './workflows.ts';

type Load = AnyLoad<Harness>;

export type FaultRunOptions = {
  harness: Harness;
  plan: readonly PlannedFault[];
  /** At least so many events, and until the plan is done. */
  events: number;
  rate: number;
  /** At most so long for load and faults together. */
  minutes: number;
  tell: (line: string) => void;
};

const RECOVERED_WITHIN_MS = 150_000;
/** Longer than the patience with a run that is under way. */
const NOTICED_MS = 4_000;

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export function runFaults({ harness, rate, tell, ...options }: FaultRunOptions): Promise<FaultRun> {
  const targets = targetsOf(harness.gateway.publicURL, harness.project);
  return underLoad({ harness, targets, rate, tell }, (load) => doFaults(load, options));
}

type PlanOptions = Pick<FaultRunOptions, 'plan' | 'events' | 'minutes'>;

/**
 * All faults of the plan, then the rest of the events. Gives why the run does not count, where it does not.
 */
export async function doFaults(
  load: Load,
  { plan, events, minutes }: PlanOptions,
): Promise<string | undefined> {
  const deadline = performance.now() + minutes * 60_000;
  try {
    for (const planned of plan) {
      // Spread over the events, so that none of them are sent in peace.
      const share = (events * (planned.number - 1)) / plan.length;
      while (load.sender.events.length < share && performance.now() < deadline) await delay(100);
      if (performance.now() > deadline)
        return `${planned.number - 1} of ${plan.length} faults fitted into the time`;
      await hitAndRecover(load, planned);
    }
    while (load.sender.events.length < events && performance.now() < deadline) await delay(100);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error;
    load.tell(`✗ ${error.message}`);
    return error.message;
  }
}

async function hitAndRecover(load: Load, planned: PlannedFault): Promise<void> {
  const { sender, pulse, rate, tell, faults } = load;
  await hit(load, planned, await steadyLoad(sender, pulse, rate));
  const record = faults.at(-1);
  if (!record) return;
  // A run that lost its runner looks like any other in the first moments: what is calm then is the calm
  // before.
  await delay(NOTICED_MS);
  await untilRecovered(record, load, RECOVERED_WITHIN_MS);
  tell(faultLine(record));
}

async function hit({ harness, begin }: Load, planned: PlannedFault, loadBefore: number): Promise<void> {
  const { number, kind } = planned;
  const record: FaultRecord = { number, kind, target: '', at: Date.now(), endedAt: Date.now(), loadBefore };
  await inject(harness, planned, (target) => begin(Object.assign(record, { target, at: Date.now() })));
  record.endedAt = Date.now();
}

function faultLine({ number, kind, target, firstAcceptedSeconds, backlogEndedSeconds }: FaultRecord): string {
  const first = firstAcceptedSeconds?.toFixed(1) ?? '?';
  const backlog = backlogEndedSeconds?.toFixed(1) ?? '?';
  return `✓ ${number}. ${kind} (${target}): accepted again after ${first} s, nothing waiting after ${backlog} s`;
}
