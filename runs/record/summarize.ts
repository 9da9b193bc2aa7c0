/**
 * Keeps unrecorded runs within the history of each workflow while the write budget is short: beyond it the
 * runs that ended first become summaries; of those that ended in one millisecond, the ones that were accepted
 * first. Whoever does it, and however often, the newest stay.
 */
import { isTerminal, type TerminalPhase } from '../../api/phase.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../../store/connection.ts';
import type { RunGroup } from '../../store/groups.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { readBrief } from '../read.ts';
import type { RunState } from '../types/run.ts';
import { dropExcess } from './dropExcess.ts';
import { HISTORY, type Dropped } from './recorded.ts';

/** Runs whose end is read at once. */
const READ_PAGE = 100;
/**
 * Runs that are dropped at once: few, because the runner's other work waits for them; more where many are to
 * be dropped.
 */
const LEAST_PAGE = 20;
const LARGEST_PAGE = 200;
const PAGES = 50;

export type Summarizer = {
  /** Reads all unrecorded runs once; answers how many became summaries. */
  trim(): Promise<number>;
};

/** Small, since there may be many. */
type Ended = {
  run: string;
  /** In milliseconds. */
  endedAt: number;
  /** In microseconds: thousands of short runs end in one second. */
  accepted: number;
  group: RunGroup;
  phase: TerminalPhase;
};

export function createSummarizer(conn: RunStoreConnection, project: ProjectUid): Summarizer {
  /** Ended unrecorded runs: they do not change any more, so each is read once. */
  let known = new Map<string, Ended>();

  async function endedRuns(): Promise<Ended[]> {
    const names = await orUnavailable(() => conn.command('zrange', keysOf(project).unrecorded, 0, -1));
    if (isUnavailable(names)) return [];
    const next = new Map<string, Ended>();
    const unknown: string[] = [];
    for (const name of names as string[]) {
      const ended = known.get(name);
      if (ended) next.set(name, ended);
      else unknown.push(name);
    }
    for (const page of pagesOf(unknown, READ_PAGE))
      for (const ended of await Promise.all(page.map((name) => readEnd(conn, project, name))))
        if (ended) next.set(ended.run, ended);
    known = next;
    return [...next.values()];
  }

  return {
    trim: async () => {
      const groups = Map.groupBy(await endedRuns(), ({ group, phase }) => `${group} ${phase}`);
      let gone = 0;
      for (const runs of groups.values()) gone += await summarizeOldest(conn, project, runs);
      return gone;
    },
  };
}

/** How the run ended, if it has. */
async function readEnd(
  conn: RunStoreConnection,
  project: ProjectUid,
  run: string,
): Promise<Ended | undefined> {
  const fields = await orUnavailable(() =>
    conn.command('hmget', keysOf(project).run(run), 'phase', 'ended', 'wf', 'accepted'),
  );
  if (isUnavailable(fields)) return undefined;
  const [phase, endedAt, group, accepted] = fields as (string | null)[];
  if (!phase || !isTerminal(phase) || !endedAt || !group) return undefined;
  return { run, endedAt: Number(endedAt), accepted: Number(accepted), group, phase };
}

/** Runs of one group and phase beyond the history become summaries, the oldest first. */
async function summarizeOldest(
  conn: RunStoreConnection,
  project: ProjectUid,
  runs: Ended[],
): Promise<number> {
  const [{ group, phase } = { group: '', phase: '' }] = runs;
  const tooMany = await countExcess(conn, project, group, phase);
  const size = Math.min(LARGEST_PAGE, Math.max(LEAST_PAGE, Math.ceil(tooMany / PAGES)));
  const oldestFirst = runs.toSorted(byEnd);
  let gone = 0;
  for (let at = 0; at < runs.length && gone < tooMany; ) {
    const page = oldestFirst.slice(at, at + Math.min(size, tooMany - gone));
    at += page.length;
    const outcomes = await dropPage(conn, project, page);
    gone += outcomes.filter((outcome) => outcome === 'recorded').length;
    // It ended too recently, and so did those after it.
    if (outcomes.includes('kept')) break;
  }
  return gone;
}

async function countExcess(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  phase: string,
): Promise<number> {
  const counts = await orUnavailable(async () => {
    const key = keysOf(project).wf(group);
    return (await conn.command('hmget', key, `waiting:${phase}`, `keep:${phase}`)) as (string | null)[];
  });
  if (isUnavailable(counts)) return 0;
  const [waiting, keep] = counts;
  return Math.max(0, Number(waiting ?? 0) - Number(keep ?? HISTORY));
}

/** Drops the runs that need not be recorded and can be read. */
async function dropPage(
  conn: RunStoreConnection,
  project: ProjectUid,
  page: readonly Ended[],
): Promise<(Dropped | Unavailable)[]> {
  const found = await Promise.all(page.map(({ run }) => readBrief(conn, project, run)));
  const states = found.filter((state) => state !== undefined && !isUnavailable(state) && mayGo(state));
  return dropExcess(conn, states as RunState[]);
}

/** A run whose object exists, or may exist, is recorded in any case. */
function mayGo({ recordedUid, recordUid, createBegun }: RunState): boolean {
  return recordedUid === undefined && recordUid === undefined && createBegun === undefined;
}

function byEnd(a: Ended, b: Ended): number {
  return a.endedAt - b.endedAt || a.accepted - b.accepted;
}

function* pagesOf<T>(items: T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
