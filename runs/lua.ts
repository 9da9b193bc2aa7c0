/** The Lua that several scripts share. Each piece names the locals that it needs; `store/keys.ts` says what the keys hold. */
import { ANNOUNCE_ROOM, LEARN_GROWTH } from './room.ts';
import type { DeclaredKey } from '../store/script.ts';
import { REQUIRE_STORE } from '../store/lua.ts';

/** Ended runs keep their events this long, in seconds; less when more than a hundred runs end in a minute. */
const EVENTS_KEPT_S = 600;
const EVENTS_KEPT_LEAST_S = 10;
const ENDS_A_MINUTE = 100;
/** An end counts once more for each so many bytes of its events: so the kept events of a project take about 8 MiB at any rate of ends. */
const EVENT_BYTES_PER_END = 8 * 1024;

/** Live events of one run: entries, and bytes of their texts. */
const EVENT_LIMIT = 1_000;
const EVENT_LIMIT_BYTES = 256 * 1024;
/** The same while a run is parked: thousands may be. */
export const PARKED_EVENT_BYTES = 8 * 1024;

/** For how long a recorder may keep a run to itself before another takes it. */
export const LEASE_MS = 30_000;
/** Behind so many successes a failure is recorded first: those that ended within this time before it. */
const FAILURES_AHEAD_MS = 60_000;
/** The longest time for which a change waits, so that several are written at once; far below the lease. */
export const COALESCE_MS = 1_000;

/** Ends the script where the claim is not the caller's any more. Needs `claims`, `meta`, `run_id`, `token`. */
export const FENCE = `
if redis.call('HGET', claims, run_id) ~= token then
  ${REQUIRE_STORE}
  return 'fenced'
end
`;

/** The keys that END needs. */
export const END_KEYS = [
  'meta',
  'q',
  'held',
  'live',
  'out',
  'cancels',
  'replaced',
  'wf',
  'run',
  'ev',
] as const satisfies DeclaredKey[];

/**
 * While no more runs than this are ready, each is announced: a claim can name it then, and need not ask for its name first.
 * In a longer queue a claim learns the names of the next ones by the way.
 */
export const ANNOUNCED = 16;

/**
 * `enqueue(entry, virtual, own)`: makes a run ready at the virtual time at which its workflow's next run starts (start-time
 * fair queueing), wakes runners while few are ready, and returns the workflow's next time. `virtual` is the queue's time,
 * `own` the workflow's. Needs `q`.
 */
export const ENQUEUE = `
local function enqueue(entry, virtual, own)
  local start = math.max(tonumber(virtual or 0), tonumber(own or 0))
  redis.call('ZADD', q, start, entry)
  if redis.call('ZCARD', q) <= ${ANNOUNCED} then
    redis.call('PUBLISH', q, entry)
  end
  return start + 1
end
`;

/**
 * `emit(json)`: a live event; `write_events(most)` stores what was emitted, and keeps the last `most` bytes (default 256 KiB). A line is `<number> <at> <json>`. Needs `ev`, `wall` and,
 * of the run, `event_count` and `event_bytes`.
 */
export const EMIT = `
local lines = {}
local function emit(json)
  event_count = event_count + 1
  local line = event_count .. ' ' .. wall .. ' ' .. json
  event_bytes = event_bytes + #line
  lines[#lines + 1] = line
end
local function write_events(most)
  if #lines == 0 then
    return
  end
  local length = redis.call('RPUSH', ev, unpack(lines))
  lines = {}
  while length > ${EVENT_LIMIT} or event_bytes > (most or ${EVENT_LIMIT_BYTES}) do
    event_bytes = event_bytes - #redis.call('LPOP', ev)
    length = length - 1
  end
end
`;

/**
 * `free(uid, virtual, active, limit, own)`: a run of the workflow gives its slot up, and the oldest that is held takes it, if the
 * limit admits one. Answers with the slots in use and the workflow's next virtual time. Needs ENQUEUE and `held`.
 */
export const FREE_SLOT = `
local function free(uid, virtual, active, limit, own)
  active = active - 1
  if limit and active < tonumber(limit) then
    local first = redis.call('ZRANGEBYLEX', held, '[' .. uid .. ' ', '(' .. uid .. '!', 'LIMIT', 0, 1)[1]
    if first then
      own = enqueue(first, virtual, own)
      redis.call('ZREM', held, first)
      active = active + 1
    end
  end
  return active, own
end
`;

/** The keys that VANISHED needs beside `meta`. */
export const VANISHED_KEYS = [
  'q',
  'held',
  'live',
  'claims',
  'cancels',
  'replaced',
  'out',
  'wf',
  'runs',
  'ev',
] as const satisfies DeclaredKey[];

/**
 * `vanished(name)`: somebody removed the run of that name by hand. Its claim and everything else that names it are removed, the workflow's
 * oldest held run takes its slot, and it counts as failed. It leaves no summary, since nothing is known of it. Answers `fenced`.
 */
export const VANISHED = `
local function vanished(name)
  ${ENQUEUE}
  ${FREE_SLOT}
  local uid = string.match(wf, '[^:]+$')
  local counts = redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted', 'Failed')
  redis.call('ZREM', live, uid .. ' ' .. (redis.call('ZSCORE', runs, name) or '') .. ' ' .. name)
  redis.call('ZREM', runs, name)
  redis.call('ZREM', out, name)
  if redis.call('SREM', cancels, name) == 1 then redis.call('HDEL', replaced, name) end
  redis.call('HDEL', claims, name)
  redis.call('UNLINK', ev)
  -- Of a workflow that was dropped nothing is counted, or its hash would be there again.
  if counts[4] then
    local virtual = redis.call('HGET', meta, 'v')
    local active, own = free(uid, virtual, tonumber(counts[1] or 0), counts[2], counts[3])
    redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'Failed', tonumber(counts[5] or 0) + 1)
  end
  return 'fenced'
end
`;

/**
 * `finish(uid, slot, accepted, sequence, added, over)`: ends the run, once and for all. The caller has taken it from claims or queue; `slot` says
 * whether it counted against the limit: then the workflow's oldest held run takes its place, if the limit admits one. A run that a newer one replaced ends with the reason `Replaced`. `over` is
 * `{phase, reason, message, event}`, `added` the bytes that this step adds, `grown` those that the run has grown by since it was accepted, where a runner ends it. Needs END_KEYS, NOW, ENQUEUE, EMIT and `run_id`.
 */
export const END = `
${FREE_SLOT}
${LEARN_GROWTH}
${ANNOUNCE_ROOM}
-- Says by which run the run was replaced, if it was and ends because of that.
local function tell_replaced(over)
  local newer = redis.call('HGET', replaced, run_id)
  if not newer then return end
  redis.call('HDEL', replaced, run_id)
  if over[1] ~= 'Cancelled' then return end
  over[2], over[3] = 'Replaced', 'Run ' .. newer .. ' replaced this run (concurrency.policy: Replace).'
  over[4] = '{"type":"run","phase":"Cancelled","reason":"Replaced","message":"' .. over[3] .. '"}'
end
local function finish(uid, slot, accepted, sequence, added, over, grown)
  local phase = over[1]
  local waiting = 'waiting:' .. phase
  -- First whatever may find a key of a wrong type: what fails has not ended the run, and is done again.
  local project = redis.call('HMGET', meta, 'bytes', 'v', 'minute', 'ends', 'growth', 'short')
  local counts = redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted', phase, waiting)
  local due_at = redis.call('ZSCORE', out, run_id)
  redis.call('ZREM', live, uid .. ' ' .. accepted .. ' ' .. run_id)
  if redis.call('SREM', cancels, run_id) == 1 then
    tell_replaced(over)
  end
  emit(over[4])
  write_events()
  local active, own = tonumber(counts[1] or 0), counts[3]
  if slot then
    active, own = free(uid, project[2], active, counts[2], own)
  end

  redis.call('HSET', run, 'phase', phase, 'ended', wall, 'sequence', sequence, 'evcount', event_count,
    'evbytes', event_bytes, 'reason', over[2], 'message', over[3])

  local minute = math.floor(now / 60000)
  local ends = 1 + math.floor(event_bytes / ${EVENT_BYTES_PER_END})
  if tonumber(project[3]) == minute then ends = ends + tonumber(project[4]) end
  redis.call('HSET', meta, 'bytes', tonumber(project[1] or 0) + added, 'minute', minute, 'ends', ends,
    'growth', grown and learn(project[5], grown, true) or project[5] or '')
  redis.call('EXPIRE', ev, ends <= ${ENDS_A_MINUTE} and ${EVENTS_KEPT_S}
    or math.max(${EVENTS_KEPT_LEAST_S}, math.floor(${EVENTS_KEPT_S * ENDS_A_MINUTE} / ends)))

  -- Of a workflow that was dropped nothing is counted, or its hash would be there again.
  if counts[4] then
    redis.call('HSET', wf, 'active', active, 'vt', own or 0,
      phase, tonumber(counts[5] or 0) + 1, waiting, tonumber(counts[6] or 0) + 1)
  end
  if not due_at or tonumber(due_at) < now + ${LEASE_MS / 2} then
    redis.call('ZADD', out, phase == 'Failed' and now - ${FAILURES_AHEAD_MS} or now, run_id)
  end
  redis.call('PUBLISH', run, 'end')
  announce_room(project[6])
end
`;
