/** The unfinished runs of a group, all at once. Programs ask for pages, or whether there are any. */
import { groupOfToken } from '../../../runs/claimToken.ts';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../../store/connection.ts';
import type { RunGroup } from '../../../store/groups.ts';
import { keysOf, type ProjectUid } from '../../../store/keys.ts';

export function unfinishedRuns(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
): Promise<string[] | Unavailable> {
  const { ready, overLimit, parked, claims } = keysOf(project);
  return orUnavailable(async () => {
    const [queued, waiting, excess, claimed] = (await Promise.all([
      conn.command('zrange', ready, 0, -1),
      conn.command('zrange', parked, 0, -1),
      conn.command('zrangebylex', overLimit, `[${group} `, `(${group}!`),
      conn.command('hgetall', claims),
    ])) as [string[], string[], string[], Record<string, string>];
    const entries = [...queued, ...waiting].filter((entry) => entry.startsWith(`${group} `)).concat(excess);
    const running = Object.entries(claimed).filter(([, token]) => groupOfToken(token) === group);
    return [
      ...entries.map((entry) => entry.slice(entry.lastIndexOf(' ') + 1)),
      ...running.map(([run]) => run),
    ];
  });
}
