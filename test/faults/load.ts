/** Events at a steady rate while something is done to the system, and at the end the evidence of what became of everything. */
import { pollUntil } from '../support/poll.ts';
import { check, ENDED_WITHIN_MS, type Violation } from './checker.ts';
import { readEffects } from './effects.ts';
import type { EndedRun, Evidence, FaultRecord, Measure } from './evidence.ts';
import { listRuns, unlike } from './listing.ts';
import { takePulse, type Pulse } from './recovery.ts';
import { isAccepted, startSender, type Sender, type Target } from './sender.ts';
import type { Stage } from './stage.ts';
import type { StoreReader } from './store.ts';
import { watchRuns } from './watch.ts';
import { WORKFLOWS } from './workflows.ts';

export type LoadOptions = {
  /** Used once: its totals are compared with what this load sent. */
  stage: Stage;
  targets: readonly Target[];
  /** Events a second. */
  rate: number;
  /** Whether what was not accepted is sent again. Default: yes. */
  repeats?: boolean;
  /** Called every few seconds. */
  tell: (line: string) => void;
};

export type Load = LoadOptions & {
  sender: Sender;
  pulse: Pulse;
  faults: FaultRecord[];
  /** What the work itself found broken. */
  violations: Violation[];
  /** What the work itself measured. */
  measures: Measure[];
  /** The fault begins now: the first event that is accepted after it is noted with it. */
  begin: (fault: FaultRecord) => void;
};

export type FaultRun = {
  evidence: Evidence;
  violations: Violation[];
  measures: readonly Measure[];
  /** Why the run does not count, where it does not. */
  invalid?: string;
  gaps: number;
  seconds: number;
};

const TELL_MS = 5_000;
const COLLECT_MS = 30_000;

/**
 * Does the work under load; it answers with why the run does not count, if it does not. Never throws for what the system did: that is
 * a violation.
 */
export async function underLoad(
  options: LoadOptions,
  work: (load: Load) => Promise<string | undefined>,
): Promise<FaultRun> {
  const { stage, tell } = options;
  const began = performance.now();
  const watcher = await watchRuns(stage.cluster.kubeconfigPath, stage.project);
  const pulse = takePulse(stage.store);
  let current: FaultRecord | undefined;
  const sender = startSender({
    ...options,
    name: stage.name,
    onAttempt: (_event, attempt) => noteFirst(current, attempt.at, isAccepted(attempt)),
  });
  const faults: FaultRecord[] = [];
  const begin = (fault: FaultRecord) => {
    faults.push(fault);
    current = fault;
  };
  const load: Load = { ...options, sender, pulse, faults, violations: [], measures: [], begin };
  const telling = setInterval(() => tell(progressLine(load)), TELL_MS);
  // The run store lists the newest of each workflow: in a long run the first ones are gone before the end.
  const known = new Map<string, EndedRun>();
  const collecting = setInterval(() => void collect(stage.store, known), COLLECT_MS);
  try {
    const invalid = await work(load);
    tell('no more faults: waiting for what was sent');
    await sender.end(ENDED_WITHIN_MS);
    await settle(stage.store, tell);
    const evidence = await gather(stage, load, known, () => watcher.histories());
    return {
      evidence,
      violations: [...load.violations, ...check(evidence), ...(await listedOtherwise(stage))],
      measures: load.measures,
      ...(invalid !== undefined && { invalid }),
      gaps: watcher.gaps(),
      seconds: Math.round((performance.now() - began) / 1_000),
    };
  } finally {
    clearInterval(telling);
    clearInterval(collecting);
    await Promise.all([sender.end(0), pulse.stop(), watcher.stop()]);
  }
}

/** Compares with what the run store holds now: the list knows no more than that. */
async function listedOtherwise(stage: Stage): Promise<Violation[]> {
  const held = await pollUntil('lines of the run store', () => stage.store.ended(), { timeoutMs: 30_000 });
  return unlike(held, await listRuns(stage));
}

/** The first event that was sent after the fault had begun and was accepted shows that events are taken again. */
function noteFirst(fault: FaultRecord | undefined, sentAt: number, accepted: boolean): void {
  if (!fault || !accepted || sentAt < fault.at || fault.firstAcceptedSeconds !== undefined) return;
  fault.firstAcceptedSeconds = (Date.now() - fault.at) / 1_000;
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

/** Lines come a moment after the end: they are awaited until they agree with the totals. */
async function gather(
  { store, sinks, name }: Stage,
  { sender, faults }: Load,
  known: Map<string, EndedRun>,
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
      return withKnown(ended, known).length >= sum;
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  ).catch(() => undefined);
  const effects = await readEffects(sinks);
  return {
    events: sender.events,
    effects: effects.filter(({ event }) => event.startsWith(`ev-${name}-`)),
    ended: withKnown(ended, known),
    histories: histories(),
    totals,
    faults,
    effectsOf: Object.fromEntries(WORKFLOWS.map((each) => [each.workflow, each.effects])),
  };
}

async function collect(store: StoreReader, known: Map<string, EndedRun>): Promise<void> {
  const ended = await store.ended().catch(() => undefined);
  for (const run of ended ?? []) known.set(run.run, run);
}

/** What is listed, as it is, and what was before. */
function withKnown(ended: EndedRun[], known: ReadonlyMap<string, EndedRun>): EndedRun[] {
  const names = new Set(ended.map(({ run }) => run));
  return [...ended, ...[...known.values()].filter(({ run }) => !names.has(run))];
}

function progressLine({ sender, pulse, faults }: Load): string {
  const rate = Math.round(sender.acceptedRate(3));
  const active = pulse.active() ?? '?';
  const last = faults.at(-1);
  return (
    `${sender.events.length} events, ${rate}/s accepted at once, ${sender.unanswered(1_000)} not yet, ${active} runs under way` +
    (last ? `, fault ${last.number} (${last.kind})` : '')
  );
}
