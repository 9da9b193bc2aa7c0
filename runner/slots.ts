/** How many runs a runner may execute beside those that it has. Pure. */

export type Slots = {
  /** How many runs the runner executes at a time. */
  concurrency: number;
  /** Runs that the runner has claimed. */
  inFlight: number;
  /** Of those, the ones whose end is being stored. */
  ending: number;
};

/**
 * The number of runs to claim; none where it is not positive. A run whose end is being stored needs no slot,
 * so that the runner executes other runs while the run store ends those. At most `concurrency` of them count:
 * a slow run store must not have the runner claim without end.
 */
export function freeSlots({ concurrency, inFlight, ending }: Slots): number {
  return concurrency - inFlight + Math.min(ending, concurrency);
}
