/**
 * Lists a workflow's runs, live and test runs together, newest first: runs in the store, and summaries of
 * those that have left it. The order, by acceptance and then by name, never changes, so that a list can be
 * read in pages.
 */
import type { RunPhase } from '../api/phase.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { groupsOf, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { readBrief } from './read.ts';
import type { RunState } from './types/run.ts';
import type { RunSummary } from './types/summary.ts';

/**
 * A position in the order: a run, and when it was accepted, in microseconds since 1970. Later entries are
 * older.
 */
export type Position = { at: number; run: string };

/** A run in a list. Times are milliseconds since 1970. */
export type ListedRun = Omit<RunSummary, 'phase' | 'endedAt'> & {
  phase: RunPhase;
  endedAt?: number;
  /** The store has only its summary. */
  isSummary: boolean;
  position: Position;
};

/** Newest first; runs of one microsecond in descending order of names. */
export function byNewest(a: Position, b: Position): number {
  if (a.at !== b.at) return b.at - a.at;
  return a.run < b.run ? 1 : a.run > b.run ? -1 : 0;
}

type Place = Position & { group: RunGroup; isSummary: boolean };

/**
 * The next `limit` runs after the position, fewer only at the end. Also in order where runs leave the store
 * meanwhile.
 */
export function listRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  { after, limit }: { after?: Position | undefined; limit: number },
): Promise<ListedRun[] | Unavailable> {
  const keys = keysOf(project);
  const groups = groupsOf(workflowUid);
  return orUnavailable(async () => {
    const listed: ListedRun[] = [];
    let position = after;
    while (listed.length < limit) {
      const wanted = limit - listed.length;
      // In this order: a run that becomes a summary meanwhile is read twice, never not at all.
      const stored = await placesOf(conn, groups, keys.runs, position, wanted);
      const lines = await placesOf(conn, groups, keys.summarized, position, wanted);
      const page = merged(stored, lines).slice(0, wanted);
      if (page.length === 0) break;
      position = page.at(-1);
      const found = await Promise.all(page.map((place) => readPlace(conn, project, place)));
      listed.push(...found.filter((run) => run !== undefined));
    }
    return listed;
  });
}

/** Which of these runs the store has, or has summaries of. */
export function knownRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  runs: string[],
): Promise<Set<string> | Unavailable> {
  const { runs: stored, summarized } = keysOf(project);
  const keys = groupsOf(workflowUid).flatMap((group) => [stored(group), summarized(group)]);
  return orUnavailable(async () => {
    const isKnown = async (run: string) =>
      (await Promise.all(keys.map((key) => conn.command('zscore', key, run)))).some(
        (score) => score !== null,
      );
    const known = await Promise.all(runs.map(isKnown));
    return new Set(runs.filter((_, index) => known[index]));
  });
}

/** The members of all groups' indexes after the position. */
async function placesOf(
  conn: RunStoreConnection,
  groups: RunGroup[],
  keyOf: (group: RunGroup) => string,
  after: Position | undefined,
  limit: number,
): Promise<(Position & { group: RunGroup })[]> {
  const found = await Promise.all(
    groups.map(async (group) =>
      (await places(conn, keyOf(group), after, limit)).map((place) => ({ ...place, group })),
    ),
  );
  return found.flat();
}

/** The members after the position; those of one microsecond are ordered by name. */
async function places(
  conn: RunStoreConnection,
  key: string,
  after: Position | undefined,
  limit: number,
): Promise<Position[]> {
  const found: Position[] = [];
  const from = after === undefined ? '+inf' : after.at;
  for (let offset = 0; found.length < limit; offset += limit) {
    const flat = (await conn.command(
      ...(['zrange', key, from, '-inf', 'byscore', 'rev', 'limit', offset, limit, 'withscores'] as const),
    )) as string[];
    for (let at = 0; at < flat.length; at += 2) {
      const place = { run: flat[at] ?? '', at: Number(flat[at + 1]) };
      if (after === undefined || byNewest(after, place) < 0) found.push(place);
    }
    if (flat.length < limit * 2) break;
  }
  return found;
}

function merged(stored: Omit<Place, 'isSummary'>[], lines: Omit<Place, 'isSummary'>[]): Place[] {
  const storedNames = new Set(stored.map(({ run }) => run));
  return [
    ...stored.map((place) => ({ ...place, isSummary: false })),
    ...lines.filter(({ run }) => !storedNames.has(run)).map((place) => ({ ...place, isSummary: true })),
  ].toSorted(byNewest);
}

/** Undefined where the run is gone, because the store is being cleared. */
async function readPlace(
  conn: RunStoreConnection,
  project: ProjectUid,
  { run, at, group, isSummary }: Place,
): Promise<ListedRun | undefined> {
  const position = { at, run };
  const state = isSummary ? undefined : await readBrief(conn, project, run);
  if (state && !isUnavailable(state)) {
    const { workflow, trigger, test, requestedBy } = state;
    const phase = await shownPhase(conn, project, state);
    const { acceptedAt, startedAt, endedAt, reason, message } = state;
    return {
      run,
      workflow,
      phase,
      trigger,
      test,
      acceptedAt,
      isSummary: false,
      position,
      ...(requestedBy !== undefined && { requestedBy }),
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    };
  }
  const line = await conn.command('hget', keysOf(project).summaries(group), run);
  return typeof line === 'string'
    ? { ...(JSON.parse(line) as RunSummary), isSummary: true, position }
    : undefined;
}

/**
 * A run that was handed back or taken over keeps the phase `Running` until it is claimed again, but it waits.
 */
async function shownPhase(
  conn: RunStoreConnection,
  project: ProjectUid,
  { run, phase }: Pick<RunState, 'run' | 'phase'>,
): Promise<RunPhase> {
  if (phase !== 'Running') return phase;
  return (await conn.command('hexists', keysOf(project).claims, run)) === 1 ? phase : 'Pending';
}
