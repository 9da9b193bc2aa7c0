/**
 * How many failed runs of a group Events have reported. Stored beside the totals, so that it is lost together
 * with them.
 */
import { doneOrUnavailable, type Done, type RunStoreConnection } from '../store/connection.ts';
import type { RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { defineScript } from '../store/script.ts';

const NOTE = defineScript({
  flags: 'drains',
  keys: ['wf'],
  args: ['failed'],
  answers: '1 where the field is new',
  body: `
    -- A write would create a removed key again.
    if redis.call('HEXISTS', wf, 'policy') == 0 then return 0 end
    return redis.call('HSET', wf, 'reported', failed)
  `,
});

/** Stores that so many failed runs have been reported. */
export function noteReported(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  failed: number,
): Promise<Done> {
  return doneOrUnavailable(() => conn.script(NOTE, [keysOf(project).wf(group)], [failed]));
}
