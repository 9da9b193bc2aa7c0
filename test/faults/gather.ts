/**
 * Collects the evidence of a fault run: what the run store, the sinks, the sender and the watch know in the
 * end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { pollUntil } from '../support/time/poll.ts';
import { ENDED_WITHIN_MS } from './checker.ts';
import { countBy } from './counts.ts';
import { readEffects } from './effects.ts';
import type { ClockSlip, EndedRun, Evidence, FaultRecord, Loss } from './evidence.ts';
import type { Sender } from './sender.ts';
import type { LoadHarness } from './harness.ts';
import type { StoreReader } from './store.ts';
import { ORDERS, WORKFLOWS } from './workflows.ts';

/** What was listed of ended runs until now, by name, and what was before the store lost its data. */
export type Ended = { known: Map<string, EndedRun>; before: EndedRun[]; losses: Loss[] };

/**
 * Until every run has ended, as far as the time allows in which they must. What is open then is a violation.
 */
export async function settle(store: StoreReader, tell: (line: string) => void): Promise<void> {
  const isQuiet = async () => {
    const totals = await store.totals();
    return totals?.every(({ active }) => active === 0) ?? false;
  };
  await pollUntil('the end of all runs', isQuiet, { timeoutMs: ENDED_WITHIN_MS, everyMs: 250 }).catch(
    (error: unknown) => tell(`✗ ${String(error)}`),
  );
}

/** All runs that have ended are recorded, also where the programs share the processors with the sender. */
const RECORDED_WITHIN_MS = 120_000;

type Loaded = {
  harness: Pick<LoadHarness, 'store' | 'sinks' | 'name'>;
  sender: Pick<Sender, 'events'>;
  faults: FaultRecord[];
  slips: ClockSlip[];
  failovers: NonNullable<Evidence['failovers']>;
  /** What the workflows do. Default: that of those under a steady load. */
  content?: Pick<Evidence, 'effectsOf' | 'orders'>;
};

const UNDER_LOAD: NonNullable<Loaded['content']> = {
  effectsOf: Object.fromEntries(WORKFLOWS.map((each) => [each.workflow, each.effects])),
  orders: ORDERS,
};

/**
 * Waits until all ended runs are recorded, and the run store has a summary of each, which follows the record.
 * The number of summaries may agree with the totals before: it includes those that were read of runs which a
 * failover took later.
 */
export async function gather(
  { harness: { store, sinks, name }, sender, faults, slips, failovers, content = UNDER_LOAD }: Loaded,
  { known, before, losses }: Ended,
  histories: () => Evidence['histories'],
): Promise<Evidence> {
  const totals = await pollUntil('totals of the run store', () => store.totals(), { timeoutMs: 30_000 });
  const sum = totals.reduce(
    (all, { succeeded, failed, cancelled }) => all + succeeded + failed + cancelled,
    0,
  );
  let ended: EndedRun[] = [];
  await pollUntil(
    `summaries of all ${sum} runs`,
    async () => {
      const isRecorded = (await store.unrecorded()) === 0;
      ended = withKnown((await store.ended()) ?? [], known);
      return isRecorded && ended.length >= sum;
    },
    { timeoutMs: RECORDED_WITHIN_MS, everyMs: 1_000 },
  ).catch(() => undefined);
  const effects = await readEffects(sinks);
  return {
    events: sender.events,
    effects: effects.filter(({ event }) => event.startsWith(`ev-${name}-`)),
    ended: [...before, ...ended],
    listed: countBy(ended, ({ workflow }) => workflow),
    keyed: await pollUntil('keys of the run store', () => store.keyed(sender.events), { timeoutMs: 60_000 }),
    histories: histories(),
    totals,
    faults,
    ...content,
    losses,
    slips,
    failovers,
  };
}

/** Meanwhile fewer runs end than the run store lists. */
const COLLECT_EVERY_MS = 15_000;
/** While the run store does not answer. */
const COLLECT_RETRY_MS = 1_000;

/** Reads periodically which runs have ended, until it is stopped. */
export function startCollecting(store: StoreReader, runs: Ended): { stop: () => Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const collecting = (async () => {
    while (!signal.aborted) {
      const isRead = await collectEnded(store, runs);
      const pause = delay(isRead ? COLLECT_EVERY_MS : COLLECT_RETRY_MS, undefined, { signal });
      await pause.catch(() => undefined);
    }
  })();
  return {
    stop: () => {
      ending.abort();
      return collecting;
    },
  };
}

/** Adds the ended runs that the run store lists now. Returns whether it answered. */
async function collectEnded(store: StoreReader, { known, losses }: Ended): Promise<boolean> {
  const before = losses.length;
  const ended = await store.ended().catch(() => undefined);
  // What was read before the store lost its data is not of the store that there is now.
  if (losses.length === before) for (const run of ended ?? []) known.set(run.run, run);
  return ended !== undefined;
}

/** What is listed, as it is, and what was before. */
export function withKnown(ended: readonly EndedRun[], known: ReadonlyMap<string, EndedRun>): EndedRun[] {
  const names = new Set(ended.map(({ run }) => run));
  return [...ended, ...[...known.values()].filter(({ run }) => !names.has(run))];
}
