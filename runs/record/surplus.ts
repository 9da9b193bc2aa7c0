/**
 * Keeps what waits to be recorded within each workflow's history, while not all of it can be written: of what is too many the
 * runs that ended first become lines. Whoever does it, and however often, the newest stay.
 */
import { isTerminal } from '../../api/run.ts';
import { isUnavailable, orUnavailable, type RunStoreConnection } from '../connection.ts';
import { keysOf } from '../keys.ts';
import { readBrief } from '../read.ts';
import type { ProjectUid, RunState } from '../types.ts';
import { HISTORY, recorded } from './backlog.ts';

/** Calls that are under way at once. */
const PAGE = 200;

export type SurplusTrimmer = {
  /** Looks at all that waits, once; answers with how many runs became lines. */
  trim(): Promise<number>;
};

export function createSurplusTrimmer(conn: RunStoreConnection, project: ProjectUid): SurplusTrimmer {
  /** Ended runs that wait: they do not change any more, so each is read once. */
  let known = new Map<string, RunState>();

  async function endedRuns(): Promise<RunState[]> {
    const names = await orUnavailable(() => conn.command('zrange', keysOf(project).out, 0, -1));
    if (isUnavailable(names)) return [];
    const next = new Map<string, RunState>();
    await inPages(names as string[], async (name) => {
      const state = known.get(name) ?? (await readBrief(conn, project, name));
      if (state && !isUnavailable(state) && isTerminal(state.phase)) next.set(name, state);
    });
    known = next;
    return [...next.values()];
  }

  return {
    trim: async () => {
      const groups = Map.groupBy(await endedRuns(), ({ workflowUid, phase }) => `${workflowUid} ${phase}`);
      let gone = 0;
      for (const runs of groups.values()) {
        const surplus = await surplusOf(conn, project, runs);
        await inPages(surplus, async (state) => {
          const outcome = await recorded(conn, state, 'surplus');
          if (outcome === 'recorded') gone += 1;
        });
      }
      return gone;
    },
  };
}

/** Of the waiting runs of one workflow and phase those that are too many, the oldest first. */
async function surplusOf(
  conn: RunStoreConnection,
  project: ProjectUid,
  runs: RunState[],
): Promise<RunState[]> {
  const [{ workflowUid, phase } = { workflowUid: '', phase: '' }] = runs;
  const counts = await orUnavailable(async () => {
    const key = keysOf(project).wf(workflowUid);
    return (await conn.command('hmget', key, `waiting:${phase}`, `keep:${phase}`)) as (string | null)[];
  });
  if (isUnavailable(counts)) return [];
  const [waiting, keep] = counts;
  const tooMany = Number(waiting ?? 0) - Number(keep ?? HISTORY);
  if (tooMany <= 0) return [];
  return runs.filter(mayGo).toSorted(byEnd).slice(0, tooMany);
}

/** What has an object, or may have one, is recorded in any case. */
function mayGo({ recordedUid, recordUid, createBegun }: RunState): boolean {
  return recordedUid === undefined && recordUid === undefined && createBegun === undefined;
}

function byEnd(a: RunState, b: RunState): number {
  return (a.endedAt ?? 0) - (b.endedAt ?? 0);
}

/** A page at once, in order: calls of one turn reach the store in the order in which they are made. */
async function inPages<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += PAGE) await Promise.all(items.slice(at, at + PAGE).map(work));
}
