/**
 * The backlog of a project, from which the number of its runners follows. It is read from the claims and from
 * totals that the scripts keep: two commands for each workflow, whatever the number of its runs.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { groupsOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { countOf } from '../store/numbers.ts';
import { acceptedAt } from './queueEntry.ts';

export type Backlog = {
  /** Runs that wait for a runner. */
  ready: number;
  /** Runs that runners execute. */
  claimed: number;
  /** Milliseconds since the oldest ready run was accepted; 0 where there is none. */
  oldestMs: number;
  /** Runs that have ended since the run store was created, also test runs. */
  ended: number;
};

/**
 * Ready runs that are read. Workflows alternate in the queue, so that the first run of each is among these,
 * unless more workflows than this have ready runs.
 */
const HEAD = 100;
const PHASES = ['Succeeded', 'Failed', 'Cancelled'] as const;

/** The backlog of a project with these workflows, in one round trip. */
export function readBacklog(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUids: readonly string[],
): Promise<Backlog | Unavailable> {
  const { ready, claims, wf } = keysOf(project);
  return orUnavailable(async () => {
    const groups = workflowUids.flatMap((uid) => groupsOf(uid));
    const [queued, tokens, head, time, ...totals] = (await Promise.all([
      conn.command('zcard', ready),
      conn.command('hvals', claims),
      conn.command('zrange', ready, 0, HEAD - 1),
      conn.serverOf(project).command('time'),
      ...groups.map((group) => conn.command('hmget', wf(group), ...PHASES)),
    ])) as [number, string[], string[], [seconds: string, microseconds: string], ...(string | null)[][]];
    const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
    const oldest = Math.min(now, ...head.map(acceptedAt));
    const ended = totals.flat().reduce((sum, count) => sum + countOf(count), 0);
    return { ready: queued, claimed: tokens.length, oldestMs: now - oldest, ended };
  });
}
