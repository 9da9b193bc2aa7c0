/**
 * Which accounts are to be looked at now, and when the next one is due. Pure. Accounts that failed have
 * places of their own, so that they hold up no other.
 */

/** Looks at the same time: of accounts that work, and of those that failed. */
const PLACES = { well: 8, failing: 4 };

/** `dueAt` in ms, by the clock of `now`. */
export type Known = { dueAt: number; failing: boolean };

export type Due = {
  /** What to begin with now, the longest due first. */
  begin: string[];
  /**
   * When something becomes due; undefined where nothing does. What is due already waits for a place, and so
   * for a look to end.
   */
  next: number | undefined;
};

/** Of all that is known and not looked at: it is begun, waits for a place, or is counted in `next`. */
export function dueOf(
  known: ReadonlyMap<string, Known>,
  looking: ReadonlyMap<string, { failing: boolean }>,
  now: number,
): Due {
  const free = { ...PLACES };
  for (const { failing } of looking.values()) free[failing ? 'failing' : 'well'] -= 1;
  const waiting = [...known]
    .filter(([uid]) => !looking.has(uid))
    .toSorted(([, a], [, b]) => a.dueAt - b.dueAt);
  const due = waiting.filter(([, { dueAt }]) => dueAt <= now);
  const begin = due.filter(([, { failing }]) => {
    const lane = failing ? 'failing' : 'well';
    free[lane] -= 1;
    return free[lane] >= 0;
  });
  return { begin: begin.map(([uid]) => uid), next: waiting[due.length]?.[1].dueAt };
}
