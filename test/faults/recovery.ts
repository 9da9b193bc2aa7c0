/** How the system does while a fault lasts and afterwards: when events are accepted again, and when what waited is done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRecord, Totals } from './evidence.ts';
import type { Sender } from './sender.ts';
import type { StoreReader } from './store.ts';

export type Pulse = {
  /** Runs that have not ended; undefined while the run store does not tell. */
  active(): number | undefined;
  stop(): Promise<void>;
};

const PULSE_MS = 250;
/** What counts as none: the runs that are under way at any moment. */
const BACKLOG_SECONDS = 2;
const LOAD_SECONDS = 3;
const STEADY_WITHIN_MS = 120_000;

/** Asks the run store all the time, one question at a time. */
export function takePulse(store: StoreReader): Pulse {
  let active: number | undefined;
  const ending = new AbortController();
  const taking = (async () => {
    while (!ending.signal.aborted) {
      const totals = await store.totals().catch(() => undefined);
      active = totals === undefined ? undefined : sumActive(totals);
      await delay(PULSE_MS);
    }
  })();
  return {
    active: () => active,
    stop: async () => {
      ending.abort();
      await taking;
    },
  };
}

const sumActive = (totals: readonly Totals[]): number => totals.reduce((sum, { active }) => sum + active, 0);

/** Whether nothing waits: neither events that were not accepted nor runs that have not ended. */
function isCalm(sender: Sender, pulse: Pulse, rate: number): boolean {
  const active = pulse.active();
  return active !== undefined && active <= rate * BACKLOG_SECONDS && sender.unanswered(1_000) === 0;
}

/**
 * Waits until nothing is left of the fault before and the rate is accepted in full; gives it. Throws where that does not come: such a
 * run does not count, since a fault without load shows nothing.
 */
export async function steadyLoad(sender: Sender, pulse: Pulse, rate: number): Promise<number> {
  const deadline = performance.now() + STEADY_WITHIN_MS;
  for (;;) {
    const load = sender.acceptedRate(LOAD_SECONDS);
    // A twentieth of the requests deserves a refusal; the sender sends that much more.
    if (isCalm(sender, pulse, rate) && load >= rate) return load;
    if (performance.now() > deadline) throw new NotSteady(describe(sender, pulse, rate, load));
    await delay(PULSE_MS);
  }
}

/** The run does not count. */
export class NotSteady extends Error {}

function describe(sender: Sender, pulse: Pulse, rate: number, load: number): string {
  return (
    `${Math.round(load)} of ${rate} events a second were accepted, ${sender.unanswered(1_000)} wait to be accepted and ` +
    `${pulse.active() ?? 'an unknown number of'} runs have not ended, ${STEADY_WITHIN_MS / 1_000} s after the last fault`
  );
}

/** Fills in when it was over: called until it is, or until the fault run gives up. */
export async function untilRecovered(
  record: FaultRecord,
  { sender, pulse, rate }: { sender: Sender; pulse: Pulse; rate: number },
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (isCalm(sender, pulse, rate)) {
      record.backlogEndedSeconds = (Date.now() - record.at) / 1_000;
      return;
    }
    await delay(100);
  }
}
