/** The Lua that several scripts share. Each piece names the locals that it needs; `runs/keys.ts` says what the keys hold. */
import type { ProjectKey } from './keys.ts';

/** Ended runs keep their events this long, in seconds; less when more than a hundred runs end in a minute. */
const EVENTS_KEPT_S = 600;
const EVENTS_KEPT_LEAST_S = 10;
const ENDS_A_MINUTE = 100;

/** Live events of one run: entries, and bytes of their texts. */
export const EVENT_LIMIT = 1_000;
export const EVENT_LIMIT_BYTES = 256 * 1024;

/** For how long a recorder may keep a run to itself before another takes it. */
export const LEASE_MS = 30_000;
/** The longest time for which a change waits, so that several are written at once; far below the lease. */
export const COALESCE_MS = 1_000;

/** `now`: milliseconds since 1970 by the store's clock, the only one that is ever compared. */
export const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Ends the script with an error where the store has lost its data. Needs `meta`. */
export const REQUIRE_STORE = `
if redis.call('HEXISTS', meta, 'id') == 0 then
  return redis.error_reply('NOLOG the run store is empty')
end
`;

/** Ends the script where the claim is not the caller's any more. Needs `claims`, `meta`, `run_id`, `token`. */
export const FENCE = `
if redis.call('HGET', claims, run_id) ~= token then
  ${REQUIRE_STORE}
  return 'fenced'
end
`;

/** The keys that ENQUEUE, RELEASE and END need. */
export const QUEUE_KEYS = ['meta', 'q', 'vt', 'held', 'active', 'cfg'] as const satisfies ProjectKey[];
export const END_KEYS = [...QUEUE_KEYS, 'live', 'counts', 'out', 'cancels', 'run', 'ev'] as const satisfies (
  | ProjectKey
  | 'run'
  | 'ev'
)[];

/**
 * `enqueue(wf, entry)`: makes a run ready, at the virtual time at which its workflow's next run starts (start-time fair
 * queueing), and wakes runners if the queue was empty.
 */
export const ENQUEUE = `
local function enqueue(wf, entry)
  local virtual = tonumber(redis.call('HGET', meta, 'v') or 0)
  local start = math.max(virtual, tonumber(redis.call('HGET', vt, wf) or 0))
  redis.call('HSET', vt, wf, start + 1)
  redis.call('ZADD', q, start, entry)
  redis.call('HINCRBY', active, wf, 1)
  if redis.call('ZCARD', q) == 1 then
    redis.call('PUBLISH', q, entry)
  end
end
`;

/** `release(wf)`: a run gave up its slot; the workflow's oldest held run takes it, if the limit admits one. Needs ENQUEUE. */
export const RELEASE = `
local function release(wf)
  local left = redis.call('HINCRBY', active, wf, -1)
  if left <= 0 then
    redis.call('HDEL', active, wf)
    left = 0
  end
  local first = redis.call('ZRANGEBYLEX', held, '[' .. wf .. ' ', '(' .. wf .. '!', 'LIMIT', 0, 1)[1]
  if not first then
    return
  end
  local limit = tonumber(redis.call('HGET', cfg, wf .. ':limit') or 'inf')
  if left < limit then
    redis.call('ZREM', held, first)
    enqueue(wf, first)
  end
end
`;

/** `emit(json)`: one live event. Needs `ev`, `event_bytes` (what is there). */
export const EMIT = `
local function emit(json)
  redis.call('XADD', ev, 'MAXLEN', ${EVENT_LIMIT}, '*', 'e', json)
  event_bytes = event_bytes + #json
end
local function trim_events()
  while event_bytes > ${EVENT_LIMIT_BYTES} do
    local oldest = redis.call('XRANGE', ev, '-', '+', 'COUNT', 1)[1]
    if not oldest then
      event_bytes = 0
      return
    end
    redis.call('XDEL', ev, oldest[1])
    event_bytes = event_bytes - #oldest[2][2]
  end
end
`;

/**
 * `finish(wf, accepted, phase, reason, message, json)`: ends the run, once and for all. The caller gives up claim or
 * place in the queue. Needs END_KEYS, NOW, EMIT and `run_id`.
 */
export const END = `
local function keep_events()
  local minute = math.floor(now / 60000)
  local seen = redis.call('HMGET', meta, 'minute', 'ends')
  local ends = 1
  if tonumber(seen[1]) == minute then
    ends = tonumber(seen[2]) + 1
  end
  redis.call('HSET', meta, 'minute', minute, 'ends', ends)
  if ends <= ${ENDS_A_MINUTE} then
    return ${EVENTS_KEPT_S}
  end
  return math.max(${EVENTS_KEPT_LEAST_S}, math.floor(${EVENTS_KEPT_S * ENDS_A_MINUTE} / ends))
end

local function finish(wf, accepted, phase, reason, message, json)
  emit(json)
  trim_events()
  redis.call('HSET', run, 'phase', phase, 'ended', now, 'evbytes', event_bytes)
  if reason ~= '' then
    redis.call('HSET', run, 'reason', reason)
  end
  if message ~= '' then
    redis.call('HSET', run, 'message', message)
  end
  redis.call('EXPIRE', ev, keep_events())
  redis.call('ZREM', live, wf .. ' ' .. accepted .. ' ' .. run_id)
  redis.call('SREM', cancels, run_id)
  redis.call('HINCRBY', counts, wf .. ':' .. phase, 1)
  redis.call('HINCRBY', counts, wf .. ':waiting:' .. phase, 1)
  local due = redis.call('ZSCORE', out, run_id)
  if not due or tonumber(due) < now + ${LEASE_MS / 2} then
    redis.call('ZADD', out, now, run_id)
  end
  redis.call('PUBLISH', run, 'end')
end
`;
