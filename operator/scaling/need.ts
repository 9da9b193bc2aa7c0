/** How many runners a project needs, by its backlog, its age, and the rate at which runs end. Pure. */
import type { Backlog } from '../../runs/backlog.ts';
import { clamp, type ScalingBounds } from '../pods/scaling.ts';

/** A backlog as it was read. `at`: milliseconds. `runners`: those that were available. */
export type Reading = Backlog & { at: number; runners: number };

/** What is known of the demand of a project. */
export type Demand = {
  /**
   * Readings of the last minute that can be compared, the oldest first: with the same runners, and all with
   * or all without a backlog.
   */
  readings: readonly Reading[];
  /** When the backlog began, in milliseconds; undefined while there is none. */
  since: number | undefined;
  /** Runs per second that a runner takes while runs wait for it; undefined until a backlog was seen. */
  throughput: number | undefined;
  /** Undefined while too little is known. */
  needed: number | undefined;
};

export type NeedOptions = ScalingBounds & {
  /** Runs that one runner executes at a time. */
  concurrency: number;
};

const WINDOW_MS = 60_000;
/** The share of its capacity that a runner is planned with, so that it can take more for a moment. */
const PLANNED_SHARE = 0.8;
/** From this share of the target on, the age of the backlog counts beside the time that it takes. */
const AGE_SHARE = 1 / 3;
/** One step doubles the runners at most, or adds this many: a wrong estimate costs little. */
const STEP = 4;

/** The demand after a reading. */
export function demandAfter(before: Demand | undefined, reading: Reading, options: NeedOptions): Demand {
  const throughput = before?.throughput;
  // Runs that end from now on are not read, so that later readings cannot be compared with these.
  if (reading.ready === 0 && reading.claimed === 0)
    return { readings: [], since: undefined, throughput, needed: options.min };
  const readings = comparable(before?.readings ?? [], reading);
  const since = reading.ready > 0 ? (before?.since ?? reading.at) : undefined;
  const flow = flowOf(readings);
  if (flow === undefined || reading.runners === 0)
    return { readings, since, throughput, needed: before?.needed };
  const known = { reading, flow, throughput };
  const result = isBehind(known, since, options) ? catchUp(known, options) : keepUp(known, options);
  return { readings, since, ...result };
}

/** The readings that can be compared with this one, and this one. */
function comparable(readings: readonly Reading[], reading: Reading): Reading[] {
  const last = readings.at(-1);
  const isOther =
    last === undefined ||
    last.runners !== reading.runners ||
    last.ready > 0 !== reading.ready > 0 ||
    // Totals went with a deleted workflow, or with the run store.
    last.ended > reading.ended;
  const recent = isOther ? [] : readings.filter(({ at }) => reading.at - at <= WINDOW_MS);
  return [...recent, reading];
}

/** Runs per second. */
type Flow = {
  /** Ready runs that runners took: at least those that ended, or by which the backlog became smaller. */
  taken: number;
  ended: number;
  arrived: number;
};

/** Undefined for a single reading. */
function flowOf(readings: readonly Reading[]): Flow | undefined {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return undefined;
  const perSecond = (count: number) => (count * 1_000) / (last.at - first.at);
  const ended = last.ended - first.ended;
  const growth = last.ready - first.ready;
  return {
    // Where none was taken, the next may be at any moment.
    taken: perSecond(Math.max(ended, -growth, 1)),
    ended: perSecond(ended),
    arrived: perSecond(Math.max(0, ended + growth + last.claimed - first.claimed)),
  };
}

type Known = { reading: Reading; flow: Flow; throughput: number | undefined };

/** Whether the runners take longer for the backlog than they shall. */
function isBehind(
  { reading: { ready, oldestMs, at }, flow: { taken } }: Known,
  since: number | undefined,
  { targetBacklogSeconds: target }: NeedOptions,
): boolean {
  // A single reading may have met runs that a runner was about to take.
  if (since === undefined || since === at) return false;
  // A run that waited for a time or a callback was accepted long before it was ready.
  const ageSeconds = Math.min(oldestMs, at - since) / 1_000;
  const drainSeconds = ready / taken;
  return drainSeconds > target || (ageSeconds > target && drainSeconds > target * AGE_SHARE);
}

/** Runners for what arrives, and for the backlog within the target. */
function catchUp(
  { reading: { ready, runners }, flow: { taken, arrived } }: Known,
  options: NeedOptions,
): Pick<Demand, 'throughput' | 'needed'> {
  const throughput = taken / runners;
  const wanted = Math.ceil((arrived + ready / options.targetBacklogSeconds) / throughput);
  const most = Math.max(runners * 2, runners + STEP);
  return { throughput, needed: clamp(Math.min(most, Math.max(runners + 1, wanted)), options) };
}

/** As many runners as there are, or fewer if these could do what is done. */
function keepUp(
  { reading: { claimed, runners }, flow: { ended }, throughput: before }: Known,
  options: NeedOptions,
): Pick<Demand, 'throughput' | 'needed'> {
  const throughput = before === undefined ? undefined : Math.max(before, ended / runners);
  const byThroughput = throughput === undefined ? 0 : Math.ceil(ended / (throughput * PLANNED_SHARE));
  const byClaims = Math.ceil(claimed / (options.concurrency * PLANNED_SHARE));
  return { throughput, needed: clamp(Math.min(runners, Math.max(byThroughput, byClaims)), options) };
}
