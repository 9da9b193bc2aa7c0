/**
 * Events at a steady rate while something is done to the system, and at the end the evidence of what became
 * of everything.
 */
import { pollUntil } from '../support/time/poll.ts';
import { ENDED_WITHIN_MS, judge } from './checker.ts';
import type { Violation } from './violation.ts';
import type { ClockSlip, EndedRun, Evidence, FaultRecord, Loss, Measure } from './evidence.ts';
import { gather, settle, startCollecting, withKnown, type Ended } from './gather.ts';
import { unlike } from './listing.ts';
import { takePulse, type Pulse } from './recovery.ts';
import { isAccepted, startSender, type Sender, type Target } from './sender.ts';
import type { LoadHarness } from './harness.ts';
import { watchRuns } from './watch.ts';

export type LoadOptions<S extends LoadHarness = LoadHarness> = {
  /** Used once: its totals are compared with what this load sent. */
  harness: S;
  targets: readonly Target[];
  /** Events a second. */
  rate: number;
  /** Whether what was not accepted is sent again. Default: yes. */
  repeats?: boolean;
  /** How long the sender waits for an answer. Default: 10 s. */
  timeoutMs?: number;
  /**
   * While more runs than these are unfinished, or more events unanswered, nothing new is sent: a slow machine
   * takes longer instead of falling behind. Default: no limit.
   */
  maxUnfinished?: number;
  /** Called every few seconds. */
  tell: (line: string) => void;
};

export type Load<S extends LoadHarness = LoadHarness> = LoadOptions<S> & {
  sender: Sender;
  pulse: Pulse;
  faults: FaultRecord[];
  /** What the work itself found broken. */
  violations: Violation[];
  /** What the work itself measured. */
  measures: Measure[];
  /** The fault begins now: the first event that is accepted after it is noted with it. */
  begin: (fault: FaultRecord) => void;
  /** The run store has lost its data; `ended`: what it listed until then. */
  lose: (loss: Loss, ended: readonly EndedRun[]) => void;
  /** When the run store's clock was wrong. */
  slips: ClockSlip[];
  /** See `Evidence`. */
  failovers: { from: number; until: number }[];
};

export type FaultRun = {
  evidence: Evidence;
  violations: Violation[];
  /** What a lost store took with it, as documented: no violations. */
  taken: Violation[];
  measures: readonly Measure[];
  /** Why the run does not count, where it does not. */
  invalid?: string;
  gaps: number;
  seconds: number;
};

const TELL_MS = 5_000;

/**
 * Does the work under load; it answers with why the run does not count, if it does not. Never throws for what
 * the system did: that is a violation.
 */
export async function underLoad<S extends LoadHarness>(
  options: LoadOptions<S>,
  work: (load: Load<S>) => Promise<string | undefined>,
): Promise<FaultRun> {
  const { harness, tell, maxUnfinished } = options;
  const began = performance.now();
  const watcher = await watchRuns(harness.kubeconfigPath, harness.project);
  const pulse = takePulse(harness.store);
  const faults: FaultRecord[] = [];
  const sender = startSender({
    ...options,
    name: harness.name,
    ...(maxUnfinished !== undefined && {
      isAtLimit: (unanswered: number) => Math.max(unanswered, pulse.active() ?? 0) > maxUnfinished,
    }),
    onAttempt: (_event, attempt) => noteFirst(faults, attempt.at, isAccepted(attempt)),
  });
  // The run store lists the newest of each workflow: in a long run the first ones are gone before the end.
  const runs: Ended = { known: new Map(), before: [], losses: [] };
  const load: Load<S> = {
    ...options,
    sender,
    pulse,
    faults,
    violations: [],
    measures: [],
    slips: [],
    failovers: [],
    begin: (fault) => void faults.push(fault),
    lose: (loss, ended) => {
      runs.before.push(...withKnown(ended, runs.known));
      runs.known.clear();
      runs.losses.push(loss);
    },
  };
  const telling = setInterval(() => tell(progressLine(load)), TELL_MS);
  const collecting = startCollecting(harness.store, runs);
  try {
    const invalid = await work(load);
    tell('no more faults: waiting for what was sent');
    await sender.end(ENDED_WITHIN_MS);
    await settle(harness.store, tell);
    const evidence = await gather(load, runs, () => watcher.histories());
    const { violations, taken } = judge(evidence);
    return {
      evidence,
      violations: [...load.violations, ...violations, ...(await listedOtherwise(harness))],
      taken,
      measures: load.measures,
      ...(invalid !== undefined && { invalid }),
      gaps: watcher.gaps(),
      seconds: Math.round((performance.now() - began) / 1_000),
    };
  } finally {
    clearInterval(telling);
    await Promise.all([sender.end(0), pulse.stop(), watcher.stop(), collecting.stop()]);
  }
}

/** Compares with what the run store holds now: the list knows no more than that. */
async function listedOtherwise(harness: LoadHarness): Promise<Violation[]> {
  const summaries = await pollUntil('summaries of the run store', () => harness.store.ended(), {
    timeoutMs: 30_000,
  });
  return unlike(summaries, await harness.list());
}

/**
 * The first event that was sent after a fault had begun and was accepted shows that events are taken again.
 */
function noteFirst(faults: readonly FaultRecord[], sentAt: number, accepted: boolean): void {
  if (!accepted) return;
  for (const fault of faults) {
    if (fault.firstAcceptedSeconds !== undefined || sentAt < fault.at) continue;
    fault.firstAcceptedSeconds = (Date.now() - fault.at) / 1_000;
  }
}

function progressLine({ sender, pulse, faults }: Pick<Load, 'sender' | 'pulse' | 'faults'>): string {
  const rate = Math.round(sender.acceptedRate(3));
  const active = pulse.active() ?? '?';
  const last = faults.at(-1);
  return (
    `${sender.events.length} events, ${rate}/s accepted at once, ${sender.unanswered(1_000)} not yet, ${active} runs under way` +
    (last ? `, fault ${last.number} (${last.kind})` : '')
  );
}
