/**
 * How the writes that the API server is asked for are shared out: a third is for pruning records, since each takes two writes
 * to make and one to remove; the rest is for making them, split among the projects. Pure.
 */

export type Budget = {
  /** Writes a second of all projects together. */
  total: number;
  /** The most that one project gets. */
  perProject: number;
};

/** What every project gets, so that none starves: a record a second. */
export const LEAST = 2;

/** How many records may be pruned a second: as many as can be made. */
export function prunesPerSecond(total: number): number {
  return Math.max(1, Math.floor(total / 3));
}

/**
 * The writes a second of each project: those that have something to record get equal shares of what there is, up to the most
 * that one may have; what is left is for the others, so that their first runs are recorded at once.
 */
export function splitBudget(
  projects: ReadonlyMap<string, { waiting: number }>,
  { total, perProject }: Budget,
): Map<string, number> {
  const names = [...projects.keys()];
  const isBusy = (name: string): boolean => (projects.get(name)?.waiting ?? 0) > 0;
  const [busy, idle] = [names.filter(isBusy), names.filter((name) => !isBusy(name))];
  const room = total - prunesPerSecond(total);
  const share = (room: number, among: number): number =>
    among === 0 ? 0 : Math.max(LEAST, Math.min(perProject, Math.floor(room / among)));
  const forBusy = share(room - idle.length * LEAST, busy.length);
  const forIdle = share(room - busy.length * forBusy, idle.length);
  return new Map(names.map((name) => [name, isBusy(name) ? forBusy : forIdle]));
}
