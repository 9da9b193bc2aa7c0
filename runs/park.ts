/**
 * A run that only waits holds no runner and no slot of its workflow's limit: it is parked until a time of the
 * project's clock, at which `runs/due.ts` makes it ready again. Both fragments are parts of `advance`, which
 * stores in the same step how far the run is.
 */
import { defineFragment } from '../store/script.ts';
import { ENQUEUE, FREE_SLOT } from './lua.ts';
import { ANNOUNCE_ROOM } from './room.ts';

/**
 * The run waits. What is left of its timeout is stored and continues when a runner claims it again: waiting
 * takes none of it.
 */
export const PARK_RUN = defineFragment({
  needs: ['parked', 'run', 'run_id', 'group', 'accepted', 'park', 'now', 'emit'],
  lua: `
redis.call('ZADD', parked, now + park, group .. ' ' .. accepted .. ' ' .. run_id)
local deadline = tonumber(redis.call('HGET', run, 'deadline'))
if deadline then
  redis.call('HSET', run, 'timeout', math.max(0, deadline - now))
  redis.call('HDEL', run, 'deadline')
end
redis.call('HSET', run, 'phase', 'Waiting')
emit('{"type":"run","phase":"Waiting"}')
`,
});

/**
 * Releases slot and claim. The claim is last: where a key is of a wrong type before, the run stays with its
 * runner, which calls again.
 */
export const RELEASE_RUN = defineFragment({
  needs: ['meta', 'ready', 'overLimit', 'claims', 'wf', 'run_id', 'group'],
  lua: `
${ENQUEUE}
${FREE_SLOT}
${ANNOUNCE_ROOM}
local virtual, short = unpack(redis.call('HMGET', meta, 'v', 'short'))
local active, limit, own, known = unpack(redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted'))
-- A write would create the hash of a dropped workflow again.
if known then
  active, own = free_slot(group, virtual, tonumber(active or 0), limit, own)
  redis.call('HSET', wf, 'active', active, 'vt', own or 0)
end
redis.call('HDEL', claims, run_id)
announce_room(short)
`,
});
