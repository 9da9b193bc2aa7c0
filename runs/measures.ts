/**
 * Metrics of the live runs of workflows: how many run, how many wait and since when, and how the others
 * ended. They are read from totals that the scripts keep: a few commands for each workflow, whatever the
 * number of its runs.
 */
import type { TerminalPhase } from '../api/phase.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupsOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { countOf } from '../store/numbers.ts';
import { acceptedAt, groupOfEntry } from './queueEntry.ts';
import { groupOfToken } from './claimToken.ts';

export type WorkflowMeasures = {
  /** Claimed by a runner. */
  running: number;
  /** Unfinished and not claimed. */
  waiting: number;
  /**
   * How long ago the oldest run was accepted that is ready or over the limit; 0 where there is none. Runs
   * that wait for a retry do not count.
   */
  oldestWaitingMs: number;
  /** Exact totals since the store was created. */
  ended: Record<TerminalPhase, number>;
};

/** Workflows that are read at once. */
const PAGE = 100;
/**
 * Ready runs that are read. Workflows alternate in the queue, so that the first run of each is among these,
 * unless more workflows than this have ready runs.
 */
const QUEUE_READ = 500;

/** The measures of these workflows, by their uid. */
export function measureWorkflows(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUids: readonly string[],
): Promise<Map<string, WorkflowMeasures> | Unavailable> {
  const { ready: queue, claims } = keysOf(project);
  return orUnavailable(async () => {
    const [tokens, ready, time] = (await Promise.all([
      conn.command('hvals', claims),
      conn.command('zrange', queue, 0, QUEUE_READ - 1),
      conn.serverOf(project).command('time'),
    ])) as [string[], string[], [seconds: string, microseconds: string]];
    const running = Map.groupBy(tokens, groupOfToken);
    const readySince = oldestOf(ready);
    const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
    const measures = new Map<string, WorkflowMeasures>();
    for (let at = 0; at < workflowUids.length; at += PAGE) {
      const page = workflowUids.slice(at, at + PAGE).map(async (uid) => {
        const [live] = groupsOf(uid);
        const counts = await readTotals(conn, project, live, running.get(live)?.length ?? 0);
        const overLimitSince = counts.waiting > 0 ? await oldestOverLimit(conn, project, live) : Infinity;
        const since = Math.min(overLimitSince, readySince.get(live) ?? Infinity);
        measures.set(uid, { ...counts, oldestWaitingMs: Math.max(0, now - Math.min(since, now)) });
      });
      await Promise.all(page);
    }
    return measures;
  });
}

async function readTotals(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: string,
  claimed: number,
): Promise<Omit<WorkflowMeasures, 'oldestWaitingMs'>> {
  const fields = ['accepted', 'Succeeded', 'Failed', 'Cancelled'];
  const values = (await conn.command('hmget', keysOf(project).wf(group), ...fields)) as (string | null)[];
  const [accepted = 0, Succeeded = 0, Failed = 0, Cancelled = 0] = values.map(countOf);
  const active = Math.max(0, accepted - Succeeded - Failed - Cancelled);
  // Claims are read a moment before: a run may have ended since.
  const running = Math.min(claimed, active);
  return { running, waiting: active - running, ended: { Succeeded, Failed, Cancelled } };
}

/** When the oldest run over the limit was accepted, in milliseconds since 1970. */
async function oldestOverLimit(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: string,
): Promise<number> {
  const range = [`[${group} `, `(${group}!`, 'limit', 0, 1] as const;
  const [entry] = (await conn.command('zrangebylex', keysOf(project).overLimit, ...range)) as string[];
  return entry === undefined ? Infinity : acceptedAt(entry);
}

/** By group: when the oldest of these ready runs was accepted. */
function oldestOf(entries: readonly string[]): Map<string, number> {
  const oldest = new Map<string, number>();
  for (const entry of entries) {
    const group = groupOfEntry(entry);
    oldest.set(group, Math.min(oldest.get(group) ?? Infinity, acceptedAt(entry)));
  }
  return oldest;
}
