/**
 * How the system does while a fault lasts and afterwards: when events are accepted again, and when what
 * waited is done.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRecord } from './evidence.ts';
import type { Sender } from './sender.ts';
import type { StoreReader } from './store.ts';

export type Pulse = {
  /** Runs that have not ended; undefined while the run store does not tell. */
  active(): number | undefined;
  /** Of those, the ones that were seen first longer ago than that. */
  older(ms: number): number | undefined;
  stop(): Promise<void>;
};

const PULSE_MS = 250;
/** A run that is under way takes less; so what is older waits for somebody who died. */
const PATIENCE_MS = 3_000;
const LOAD_SECONDS = 3;
const STEADY_WITHIN_MS = 120_000;

/** Asks the run store all the time, one question at a time. */
export function takePulse(store: StoreReader): Pulse {
  let seen: Map<string, number> | undefined;
  const ending = new AbortController();
  const taking = (async () => {
    let known = new Map<string, number>();
    while (!ending.signal.aborted) {
      const live = await store.live().catch(() => undefined);
      const now = performance.now();
      if (live !== undefined) known = new Map(live.map((run) => [run, known.get(run) ?? now]));
      seen = live && known;
      await delay(PULSE_MS);
    }
  })();
  return {
    active: () => seen?.size,
    older: (ms) => seen && [...seen.values()].filter((at) => at < performance.now() - ms).length,
    stop: async () => {
      ending.abort();
      await taking;
    },
  };
}

/** Whether nothing waits: neither events that were not accepted nor runs that nobody goes on with. */
function isCalm(sender: Sender, pulse: Pulse): boolean {
  return pulse.older(PATIENCE_MS) === 0 && sender.unanswered(1_000) === 0;
}

/**
 * Waits until nothing is left of the fault before and the rate is accepted in full; gives it. Throws where
 * that does not come: such a run does not count, since a fault without load shows nothing.
 */
export async function steadyLoad(sender: Sender, pulse: Pulse, rate: number): Promise<number> {
  const deadline = performance.now() + STEADY_WITHIN_MS;
  for (;;) {
    const load = sender.acceptedRate(LOAD_SECONDS);
    // A twentieth of the requests deserves a refusal; the sender sends that much more.
    if (isCalm(sender, pulse) && load >= rate) return load;
    if (performance.now() > deadline) throw new NotSteady(describe(sender, pulse, rate, load));
    await delay(PULSE_MS);
  }
}

/**
 * Waits until at least so many events a second are accepted, whatever else is going on; gives how many.
 * Throws as `steadyLoad` does.
 */
export async function loadBack(
  { sender, pulse }: { sender: Sender; pulse: Pulse },
  least: number,
  timeoutMs: number,
): Promise<number> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const load = sender.acceptedRate(LOAD_SECONDS);
    if (load >= least) return load;
    if (performance.now() > deadline) throw new NotSteady(describe(sender, pulse, least, load));
    await delay(PULSE_MS);
  }
}

/**
 * Fills in when nothing waited any more of what came before the fault's end: events to be accepted, and runs.
 */
export async function drained(
  record: FaultRecord,
  { sender, pulse }: { sender: Sender; pulse: Pulse },
  timeoutMs: number,
): Promise<void> {
  const isDrained = (): boolean => {
    const age = Date.now() - record.endedAt;
    return pulse.older(age) === 0 && sender.unanswered(age) === 0;
  };
  await noteBacklogEnd(record, isDrained, { timeoutMs, everyMs: PULSE_MS });
}

/** Fills in when the backlog had ended; nothing where that takes longer than the timeout. */
async function noteBacklogEnd(
  record: FaultRecord,
  hasEnded: () => boolean,
  { timeoutMs, everyMs }: { timeoutMs: number; everyMs: number },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (hasEnded()) {
      record.backlogEndedSeconds = (Date.now() - record.at) / 1_000;
      return;
    }
    await delay(everyMs);
  }
}

/** The run does not count. */
export class NotSteady extends Error {}

function describe(sender: Sender, pulse: Pulse, rate: number, load: number): string {
  return (
    `${Math.round(load)} of ${rate} events a second were accepted, ${sender.unanswered(1_000)} wait to be accepted and ` +
    `${pulse.active() ?? 'an unknown number of'} runs have not ended, long after the last fault`
  );
}

/** Fills in when it was over: called until it is, or until the fault run gives up. */
export async function untilRecovered(
  record: FaultRecord,
  { sender, pulse }: { sender: Sender; pulse: Pulse },
  timeoutMs: number,
): Promise<void> {
  await noteBacklogEnd(record, () => isCalm(sender, pulse), { timeoutMs, everyMs: 100 });
}
