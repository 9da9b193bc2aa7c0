/** Summaries expire: those that are too old, and those beyond a workflow's part where its project keeps too many, go. */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import type { RunGroup } from '../../store/groups.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import { SUMMARY_KEPT_S, SUMMARY_OVERHEAD_BYTES } from '../room.ts';
import { defineScript } from '../../store/script.ts';
import { NOW } from '../../store/lua.ts';

/** Summaries that one call removes. */
const PAGE = 500;

const TRIM = defineScript({
  flags: 'drains',
  keys: ['meta', 'wf', 'done', 'lines'],
  args: ['most'],
  body: `
    ${NOW}
    local oldest = redis.call('ZRANGE', done, '-inf', (now - ${SUMMARY_KEPT_S * 1_000}) * 1000, 'BYSCORE', 'LIMIT', 0, ${PAGE})
    local surplus = math.min(redis.call('ZCARD', done) - most, ${PAGE})
    if surplus > #oldest then
      oldest = redis.call('ZRANGE', done, 0, surplus - 1)
    end
    if #oldest == 0 then return 0 end
    local freed = 0
    for _, run in ipairs(oldest) do
      freed = freed + ${SUMMARY_OVERHEAD_BYTES} + redis.call('HSTRLEN', lines, run)
    end
    redis.call('ZREM', done, unpack(oldest))
    redis.call('HDEL', lines, unpack(oldest))
    -- A workflow that was dropped, and a project that was closed, count nothing.
    if redis.call('HEXISTS', wf, 'summaries') == 1 then
      redis.call('HINCRBY', wf, 'summaries', 0 - freed)
      redis.call('HINCRBY', meta, 'summaries', 0 - freed)
    end
    return #oldest == ${PAGE} and 1 or 0
  `,
});

/** Removes the group's summaries of runs that were accepted more than seven days ago, and the oldest beyond `most`. */
export function trimSummaries(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  most: number,
): Promise<{ outcome: 'done' } | Unavailable> {
  const { meta, wf, done, lines } = keysOf(project);
  const keys = [meta, ...[wf, done, lines].map((key) => key(group))];
  return orUnavailable(async () => {
    while ((await conn.script(TRIM, keys, [most])) === 1);
    return { outcome: 'done' };
  });
}
