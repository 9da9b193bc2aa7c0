/** Trims summaries: those that are too old, and the oldest of a workflow where its project has too many. */
import { doneOrUnavailable, type Done, type RunStoreConnection } from '../../store/connection.ts';
import type { RunGroup } from '../../store/groups.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { NOW } from '../../store/lua.ts';
import { defineScript } from '../../store/script.ts';
import { SUMMARY_KEPT_S, SUMMARY_OVERHEAD_BYTES } from '../room.ts';

/** Summaries that one call removes. */
const PAGE = 500;

const TRIM = defineScript({
  flags: 'drains',
  keys: ['meta', 'wf', 'summarized', 'summaries'],
  args: ['most'],
  answers: '1 where there may be more to remove',
  body: `
    ${NOW}
    local too_old = (now - ${SUMMARY_KEPT_S * 1_000}) * 1000
    local trimmed = redis.call('ZRANGE', summarized, '-inf', too_old, 'BYSCORE', 'LIMIT', 0, ${PAGE})
    local excess = math.min(redis.call('ZCARD', summarized) - most, ${PAGE})
    if excess > #trimmed then trimmed = redis.call('ZRANGE', summarized, 0, excess - 1) end
    if #trimmed == 0 then return 0 end
    local freed = 0
    for _, run_id in ipairs(trimmed) do
      freed = freed + ${SUMMARY_OVERHEAD_BYTES} + redis.call('HSTRLEN', summaries, run_id)
    end
    redis.call('ZREM', summarized, unpack(trimmed))
    redis.call('HDEL', summaries, unpack(trimmed))
    -- A dropped workflow, and a closed project, count nothing.
    if redis.call('HEXISTS', wf, 'summaries') == 1 then
      redis.call('HINCRBY', wf, 'summaries', 0 - freed)
      redis.call('HINCRBY', meta, 'summaries', 0 - freed)
    end
    return #trimmed == ${PAGE} and 1 or 0
  `,
});

/**
 * Removes the group's summaries of runs that were accepted more than seven days ago, and the oldest beyond
 * `most`.
 */
export function trimSummaries(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  most: number,
): Promise<Done> {
  const { meta, wf, summarized, summaries } = keysOf(project);
  const keys = [meta, ...[wf, summarized, summaries].map((key) => key(group))];
  return doneOrUnavailable(async () => {
    while ((await conn.script(TRIM, keys, [most])) === 1);
  });
}
