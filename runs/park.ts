/**
 * A run that only waits holds no runner and no slot of its workflow's limit: it is parked under the time at which it is
 * due, by the store's clock, and `runs/due.ts` makes it ready again.
 */
import { ENQUEUE, FREE_SLOT } from './lua.ts';
import { ANNOUNCE_ROOM } from './room.ts';

/**
 * A piece of `advance`, which stores what the run has come to in the same step. What is left of the run's timeout is kept and
 * runs on when a runner claims it again: waiting takes none of it. Needs what `advance` knows of the run.
 */
export const PARK = `
-- First whatever may find a key of a wrong type: what fails has parked nothing, and is done again.
local counts = redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted')
local project = redis.call('HMGET', meta, 'v', 'short')
local virtual = project[1]
redis.call('ZCARD', q)
redis.call('ZCARD', held)
redis.call('ZCARD', out)
redis.call('LINDEX', ev, 0)
redis.call('ZADD', due, now + park, state[8] .. ' ' .. state[1] .. ' ' .. run_id)
redis.call('HDEL', claims, run_id)
local deadline = tonumber(redis.call('HGET', run, 'deadline'))
if deadline then
  redis.call('HSET', run, 'timeout', math.max(0, deadline - now))
  redis.call('HDEL', run, 'deadline')
end
redis.call('HSET', run, 'phase', 'Waiting')
emit('{"type":"run","phase":"Waiting"}')

-- Of a workflow that was dropped nothing is counted, or its hash would be there again.
if counts[4] then
  ${ENQUEUE}
  ${FREE_SLOT}
  local active, own = free(state[8], virtual, tonumber(counts[1] or 0), counts[2], counts[3])
  redis.call('HSET', wf, 'active', active, 'vt', own or 0)
end
${ANNOUNCE_ROOM}
announce_room(project[2])
`;
