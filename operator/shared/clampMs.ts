/** The time within the bounds. */
export function clampMs(ms: number, { leastMs, mostMs }: { leastMs: number; mostMs: number }): number {
  return Math.min(Math.max(ms, leastMs), mostMs);
}
