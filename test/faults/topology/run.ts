/**
 * Failovers of a replicated run store under load, one after the other: the next one begins as soon as
 * nothing is left of the one before.
 */
import type { FaultRecord, Measure, SentEvent } from '../evidence.ts';
import { underLoad, type FaultRun, type Load } from '../load.ts';
import { drained, loadBack, NotSteady } from '../recovery.ts';
import { isAccepted } from '../sender.ts';
import type { StormHarness } from '../storm/harness.ts';
import { targetsOf } from '../workflows.ts';
import { FAILOVER_KINDS, failOver, type FailoverKind, type ReplicatedStore } from './failovers.ts';

export type TopologyOptions = {
  harness: StormHarness;
  store: ReplicatedStore;
  /** How often the primary fails. */
  times: number;
  kinds: readonly FailoverKind[];
  /** Events a second. */
  rate: number;
  tell: (line: string) => void;
};

/**
 * The workflows that events start, one after the other: of 19, which come between two refusals, four do more
 * than a chain. A machine with two cores executes no 200 runs a second that do, and a backlog would hide what
 * a failover takes.
 */
const MORE: Record<number, string> = { 3: 'count', 8: 'call', 12: 'reply', 16: 'mail' };
const ORDER = Array.from({ length: 19 }, (_, index) => MORE[index] ?? 'chain');
/** A fault without load shows nothing: at least this share of the rate is accepted when one begins. */
const LEAST_LOAD = 0.9;
/** More than wait after a failover. Without it, a slow machine takes a backlog into the next failover. */
const MAX_UNFINISHED = 2_000;
const LOADED_WITHIN_MS = 120_000;
const DRAINED_WITHIN_MS = 120_000;
/** The promise, from the promotion. */
const ACCEPTED_WITHIN_SECONDS = 10;

/** In seconds: from the fault to the promotion, and from there to the first event that is accepted. */
export type FailoverTimes = { kind: FailoverKind; promoted: number; accepted: number };

/** The kinds that are chosen by these words; all of them without any. */
export function failoverKindsOf(words: readonly string[]): FailoverKind[] {
  const kinds = FAILOVER_KINDS.filter((kind) => words.length === 0 || words.includes(kind));
  if (kinds.length < words.length) throw new Error(`choose from ${FAILOVER_KINDS.join(', ')}`);
  return kinds;
}

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export async function runTopology({ harness, rate, tell, ...options }: TopologyOptions): Promise<FaultRun> {
  const targets = targetsOf(harness.publicURL, harness.project, ORDER);
  const run = await underLoad(
    { harness, targets, rate, maxUnfinished: MAX_UNFINISHED, tell },
    async (load) => {
      try {
        await doFailovers(load, options);
        return undefined;
      } catch (error) {
        if (!(error instanceof NotSteady)) throw error;
        tell(`✗ ${error.message}`);
        return error.message;
      }
    },
  );
  return { ...run, measures: [...run.measures, takenBy(run)] };
}

/** The runs that failovers took, of which no sender was told. */
function takenBy({ taken }: FaultRun): Measure {
  return {
    what: 'runs without an answer that a failover took, whose events were sent again',
    seen: String(taken.length),
  };
}

async function doFailovers(
  load: Load<StormHarness>,
  { store, times, kinds }: Pick<TopologyOptions, 'store' | 'times' | 'kinds'>,
): Promise<void> {
  const done: FailoverTimes[] = [];
  for (let number = 1; number <= times; number += 1) {
    const kind = kinds[(number - 1) % kinds.length] as FailoverKind;
    const loadBefore = await loadBack(load, LEAST_LOAD * load.rate, LOADED_WITHIN_MS);
    load.tell(`failover ${number} of ${times}: ${kind}`);
    const now = Date.now();
    const record: FaultRecord = { number, kind, target: '', at: now, endedAt: now, loadBefore };
    let promotedAt = 0;
    await failOver(
      store,
      kind,
      (target) => load.begin(Object.assign(record, { target, at: Date.now() })),
      (failover) => void ({ promotedAt } = failover),
    );
    record.endedAt = Date.now();
    load.failovers.push({ from: record.at, until: record.endedAt });
    await drained(record, load, DRAINED_WITHIN_MS);
    done.push({
      kind,
      promoted: (promotedAt - record.at) / 1_000,
      accepted: acceptedAfter(load.sender.events, promotedAt),
    });
  }
  const late = done.filter(({ accepted }) => accepted > ACCEPTED_WITHIN_SECONDS);
  load.violations.push(
    ...late.map(({ kind, accepted }) => ({
      kind: 'late-return' as const,
      message: `${kind}: events were accepted ${accepted.toFixed(1)} s after the promotion`,
    })),
  );
  load.measures.push(...measuresOf(done));
}

/**
 * Seconds from then until an event was accepted that was sent after it; infinite if none was. Pure.
 */
export function acceptedAfter(events: readonly SentEvent[], at: number): number {
  const answers = events
    .filter(({ refusal }) => refusal === undefined)
    .flatMap(({ attempts }) => attempts.filter((attempt) => attempt.at >= at && isAccepted(attempt)));
  return (Math.min(...answers.map((attempt) => attempt.at + attempt.ms)) - at) / 1_000;
}

/** For each kind the median and the longest time of both. Pure. */
export function measuresOf(done: readonly FailoverTimes[]): Measure[] {
  return [...Map.groupBy(done, ({ kind }) => kind)].flatMap(([kind, each]) => [
    {
      what: `${kind}: fault to promotion, median and longest`,
      seen: spread(each.map((one) => one.promoted)),
    },
    {
      what: `${kind}: promotion to the first event that is accepted, median and longest`,
      seen: spread(each.map((one) => one.accepted)),
      promised: `at most ${ACCEPTED_WITHIN_SECONDS} s`,
    },
  ]);
}

function spread(seconds: readonly number[]): string {
  const sorted = seconds.toSorted((a, b) => a - b);
  const text = (value = NaN) => value.toFixed(1);
  return `${text(sorted[Math.floor(sorted.length / 2)])} s, ${text(sorted.at(-1))} s`;
}
