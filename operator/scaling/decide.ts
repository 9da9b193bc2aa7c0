/** When the engine `Builtin` changes the number of runners: upwards at once, downwards slowly. Pure. */
import { clamp, type ScalingBounds } from '../pods/scaling.ts';

/** What earlier decisions depended on. Milliseconds. */
export type Decisions = {
  /** What was needed during the last five minutes, the oldest first. */
  needs: readonly { at: number; needed: number }[];
  /** Since when it was not scaled up. */
  since: number;
  /** When the last runner was taken away. */
  reducedAt: number;
};

export type Situation = {
  now: number;
  /** Undefined: unknown, so that nothing changes. */
  needed: number | undefined;
  /** The replicas of the Deployment. */
  current: number;
  available: number;
};

/** As many runners as were needed at any time during it stay. */
const STABLE_MS = 300_000;
/** Between two reductions, each by a quarter at most. */
const REDUCE_EVERY_MS = 60_000;
const REDUCED_SHARE = 4;

/** The decisions before the first reading of a project. */
export function noDecisions(now: number): Decisions {
  return { needs: [], since: now, reducedAt: now };
}

/** The replicas from now on, always within the bounds. */
export function decideReplicas(
  before: Decisions,
  { now, needed, current, available }: Situation,
  bounds: ScalingBounds,
): { replicas: number; decisions: Decisions } {
  const replicas = clamp(current, bounds);
  if (needed === undefined || replicas !== current) return { replicas, decisions: before };
  const recent = before.needs.filter(({ at }) => now - at < STABLE_MS);
  const needs = [...recent, { at: now, needed }];
  if (needed > current) {
    const decisions = { ...before, needs, since: now };
    // Runners that start are counted on: more would come before these have taken anything.
    return { replicas: available < current ? current : clamp(needed, bounds), decisions };
  }
  const least = Math.max(...needs.map((each) => each.needed));
  const isStable = now - before.since >= STABLE_MS && now - before.reducedAt >= REDUCE_EVERY_MS;
  if (!isStable || least >= current) return { replicas, decisions: { ...before, needs } };
  const step = Math.max(1, Math.floor(current / REDUCED_SHARE));
  return {
    replicas: clamp(Math.max(least, current - step), bounds),
    decisions: { ...before, needs, reducedAt: now },
  };
}
