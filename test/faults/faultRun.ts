/** A fault run: events at a steady rate, one fault after the other, and at the end the evidence of what became of everything. */
import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../support/poll.ts';
import { check, ENDED_WITHIN_MS, type Violation } from './checker.ts';
import { readEffects } from './effects.ts';
import type { EndedRun, Evidence, FaultRecord } from './evidence.ts';
import { inject } from './inject.ts';
import type { PlannedFault } from './plan.ts';
import { NotSteady, steadyLoad, takePulse, untilRecovered, type Pulse } from './recovery.ts';
import { isAccepted, startSender, type Sender } from './sender.ts';
import type { Stage } from './stage.ts';
import type { StoreReader } from './store.ts';
import { watchRuns } from './watch.ts';
import { targetsOf, WORKFLOWS } from './workflows.ts';

export type FaultRunOptions = {
  stage: Stage;
  plan: readonly PlannedFault[];
  /** At least so many events, and until the plan is done. */
  events: number;
  rate: number;
  /** At most so long for load and faults together. */
  minutes: number;
  /** The next fault comes before the one before is over. */
  storm: boolean;
  /** Called every few seconds. */
  tell: (line: string) => void;
};

export type FaultRun = {
  evidence: Evidence;
  violations: Violation[];
  /** Why the run does not count, where it does not. */
  invalid?: string;
  gaps: number;
  seconds: number;
};

const TELL_MS = 5_000;
const RECOVERED_WITHIN_MS = 150_000;
const STORM_PAUSE_MS = 3_000;

type Running = FaultRunOptions & {
  sender: Sender;
  pulse: Pulse;
  faults: FaultRecord[];
  deadline: number;
};

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export async function runFaults(options: FaultRunOptions): Promise<FaultRun> {
  const { stage, rate, minutes, tell } = options;
  const began = performance.now();
  const watcher = await watchRuns(stage.cluster.kubeconfigPath, stage.project);
  const pulse = takePulse(stage.store);
  const faults: FaultRecord[] = [];
  const current = { fault: undefined as FaultRecord | undefined };
  const sender = startSender({
    targets: targetsOf(stage.gateway.publicURL, stage.project),
    rate,
    name: stage.name,
    onAttempt: (_event, attempt) => noteFirst(current.fault, attempt.at, isAccepted(attempt)),
  });
  const running = { ...options, sender, pulse, faults, deadline: began + minutes * 60_000 };
  const telling = setInterval(() => tell(progressLine(running)), TELL_MS);
  try {
    const invalid = await carryOut(running, (fault) => {
      current.fault = fault;
    });
    tell('the faults are over: waiting for what was sent');
    await sender.end(ENDED_WITHIN_MS);
    await settle(stage.store, tell);
    const evidence = await gather(stage, sender, faults, () => watcher.histories());
    const seconds = Math.round((performance.now() - began) / 1_000);
    return {
      evidence,
      violations: check(evidence),
      ...(invalid !== undefined && { invalid }),
      gaps: watcher.gaps(),
      seconds,
    };
  } finally {
    clearInterval(telling);
    await Promise.all([sender.end(0), pulse.stop(), watcher.stop()]);
  }
}

/** The first event that was sent after the fault had begun and was accepted shows that events are taken again. */
function noteFirst(fault: FaultRecord | undefined, sentAt: number, accepted: boolean): void {
  if (!fault || !accepted || sentAt < fault.at || fault.firstAcceptedSeconds !== undefined) return;
  fault.firstAcceptedSeconds = (Date.now() - fault.at) / 1_000;
}

/** All faults of the plan, then the rest of the events. Gives why the run does not count, where it does not. */
async function carryOut(running: Running, begin: (fault: FaultRecord) => void): Promise<string | undefined> {
  const { plan, sender, events, storm, deadline, tell } = running;
  const stormy: Promise<void>[] = [];
  try {
    for (const planned of plan) {
      if (performance.now() > deadline)
        return `${planned.number - 1} of ${plan.length} faults fitted into the time`;
      const work = hit(running, planned, begin);
      if (storm) {
        stormy.push(work);
        // Awaited below; a rejection before that must not end the process.
        work.catch(() => undefined);
        await delay(STORM_PAUSE_MS);
      } else await work;
    }
    await Promise.all(stormy);
    while (sender.events.length < events && performance.now() < deadline) await delay(100);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error;
    tell(`✗ ${error.message}`);
    return error.message;
  }
}

async function hit(
  { stage, sender, pulse, rate, faults, storm, tell }: Running,
  planned: PlannedFault,
  begin: (fault: FaultRecord) => void,
): Promise<void> {
  const loadBefore = storm ? sender.acceptedRate(3) : await steadyLoad(sender, pulse, rate);
  const { number, kind } = planned;
  const record: FaultRecord = { number, kind, target: '', at: Date.now(), endedAt: Date.now(), loadBefore };
  await inject(stage, planned, (target) => {
    Object.assign(record, { target, at: Date.now() });
    faults.push(record);
    begin(record);
  });
  record.endedAt = Date.now();
  if (storm) return;
  // Nobody has noticed a kill in the moment after it: what is calm then is the calm before.
  await delay(1_000);
  await untilRecovered(record, { sender, pulse, rate }, RECOVERED_WITHIN_MS);
  tell(faultLine(record));
}

/** Until every run has ended, as far as the time allows in which they must. What is open then is a violation. */
async function settle(store: StoreReader, tell: (line: string) => void): Promise<void> {
  const isQuiet = async () => {
    const totals = await store.totals();
    return totals?.every(({ active }) => active === 0) ?? false;
  };
  await pollUntil('the end of all runs', isQuiet, { timeoutMs: ENDED_WITHIN_MS, everyMs: 250 }).catch(
    (error: unknown) => tell(`✗ ${String(error)}`),
  );
}

/** Lines and records come a moment after the end: both are awaited until they agree with the totals. */
async function gather(
  { store, sinks, name }: Stage,
  sender: Sender,
  faults: FaultRecord[],
  histories: () => Evidence['histories'],
): Promise<Evidence> {
  const totals = await pollUntil('totals of the run store', () => store.totals(), { timeoutMs: 30_000 });
  const sum = totals.reduce(
    (all, { succeeded, failed, cancelled }) => all + succeeded + failed + cancelled,
    0,
  );
  let ended: EndedRun[] = [];
  await pollUntil(
    `lines of all ${sum} runs`,
    async () => {
      ended = (await store.ended()) ?? [];
      return ended.length >= sum;
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  ).catch(() => undefined);
  const effects = await readEffects(sinks);
  return {
    events: sender.events,
    effects: effects.filter(({ event }) => event.startsWith(`ev-${name}-`)),
    ended,
    histories: histories(),
    totals,
    faults,
    effectsOf: Object.fromEntries(WORKFLOWS.map((each) => [each.workflow, each.effects])),
  };
}

function progressLine({ sender, pulse, faults, plan }: Running): string {
  const rate = Math.round(sender.acceptedRate(3));
  const active = pulse.active() ?? '?';
  return (
    `${sender.events.length} events, ${rate}/s accepted at once, ${sender.unanswered(1_000)} not yet, ${active} runs under way, ` +
    `fault ${faults.length} of ${plan.length}${faults.length > 0 ? ` (${faults.at(-1)?.kind})` : ''}`
  );
}

function faultLine({ number, kind, target, firstAcceptedSeconds, backlogEndedSeconds }: FaultRecord): string {
  const first = firstAcceptedSeconds?.toFixed(1) ?? '?';
  const backlog = backlogEndedSeconds?.toFixed(1) ?? '?';
  return `✓ ${number}. ${kind} (${target}): accepted again after ${first} s, nothing waiting after ${backlog} s`;
}
