/**
 * How the write budget is split: a third is for pruning records, since each needs two writes to create and
 * one to delete; the rest is for creating them, split among the projects. Pure.
 */

type WriteBudget = {
  /** Writes per second of all projects together. */
  total: number;
  /** The most that one project gets. */
  perProject: number;
};

/** The least that every project gets: one record per second. */
export const LEAST = 2;

/** Records that may be pruned per second: as many as can be created. */
export function prunesPerSecond(total: number): number {
  return Math.max(1, Math.floor(total / 3));
}

/**
 * The writes per second of each project: projects with waiting records get equal shares, up to `perProject`;
 * the others share the rest, so that their first runs are recorded at once.
 */
export function splitWriteBudget(
  projects: ReadonlyMap<string, { waiting: number }>,
  { total, perProject }: WriteBudget,
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
