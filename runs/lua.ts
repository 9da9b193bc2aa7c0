/** The Lua that scripts about runs share. `store/keys.ts` says what the keys hold. */
import type { KeyName } from '../store/keys.ts';
import { REQUIRE_STORE } from '../store/lua.ts';
import { defineFragment } from '../store/script.ts';
import { MEMORY_LOCK_KEYS, RELEASE_MEMORIES } from './memoryLocks.ts';

/** The most values that one command gets from `unpack`: Lua refuses about 8,000. */
export const UNPACK_LIMIT = 1_000;
/** Live events of one run: entries, and bytes of their texts. */
const EVENT_LIMIT = 1_000;
const EVENT_LIMIT_BYTES = 256 * 1024;
/** The same while a run is parked, because thousands may be. */
export const PARKED_EVENT_BYTES = 8 * 1024;

/** How long a recorder has a run to itself before another may lease it. */
export const LEASE_MS = 30_000;
/** The longest time for which a change waits, so that several are written at once; far below the lease. */
export const COALESCE_MS = 1_000;

/** Ends the script where the claim is not the caller's any more. */
export const FENCE = defineFragment({
  needs: ['claims', 'meta', 'run_id', 'token'],
  lua: `
if redis.call('HGET', claims, run_id) ~= token then
  ${REQUIRE_STORE}
  return 'fenced'
end
`,
});

/**
 * While no more runs than this are ready, each is announced by name, so that a claim can name it without
 * asking first. In a longer queue each claim answers the names of the next runs.
 */
export const ANNOUNCED = 16;

/**
 * `enqueue(entry, virtual, own)`: makes a run ready at the virtual time at which its workflow's next run
 * starts (start-time fair queueing), wakes runners while few runs are ready, and returns the workflow's next
 * time. `virtual`: the queue's time. `own`: the workflow's time.
 */
export const ENQUEUE = defineFragment({
  needs: ['ready'],
  gives: ['enqueue'],
  lua: `
local function enqueue(entry, virtual, own)
  local start = math.max(tonumber(virtual or 0), tonumber(own or 0))
  redis.call('ZADD', ready, start, entry)
  if redis.call('ZCARD', ready) <= ${ANNOUNCED} then
    redis.call('PUBLISH', ready, entry)
  end
  return start + 1
end
`,
});

/**
 * `free_slot(group, virtual, active, limit, own)`: a run of the group releases its slot, and the oldest run
 * over the limit takes it, if the limit allows one. Returns the slots in use and the workflow's next virtual
 * time.
 */
export const FREE_SLOT = defineFragment({
  needs: ['overLimit', 'enqueue'],
  gives: ['free_slot'],
  lua: `
local function free_slot(group, virtual, active, limit, own)
  active = active - 1
  if limit and active < tonumber(limit) then
    local first = redis.call('ZRANGEBYLEX', overLimit, '[' .. group .. ' ', '(' .. group .. '!', 'LIMIT', 0, 1)[1]
    if first then
      own = enqueue(first, virtual, own)
      redis.call('ZREM', overLimit, first)
      active = active + 1
    end
  end
  return active, own
end
`,
});

/**
 * `emit(json)`: adds a live event, which is stored as `<number> <at> <json>`. `write_events(most)`: stores
 * what was emitted, and keeps the last `most` bytes (default 256 KiB). `event_count` and `event_bytes` are
 * the run's.
 */
export const EVENTS = defineFragment({
  needs: ['events', 'wall', 'event_count', 'event_bytes'],
  gives: ['emit', 'write_events'],
  lua: `
local emitted, at_wall = {}, ' ' .. wall .. ' '
local function emit(json)
  event_count = event_count + 1
  local line = event_count .. at_wall .. json
  event_bytes = event_bytes + #line
  emitted[#emitted + 1] = line
end
local function write_events(most)
  if #emitted == 0 then return end
  local length
  for at = 1, #emitted, ${UNPACK_LIMIT} do
    length = redis.call('RPUSH', events, unpack(emitted, at, math.min(at + ${UNPACK_LIMIT} - 1, #emitted)))
  end
  emitted = {}
  while length > ${EVENT_LIMIT} or event_bytes > (most or ${EVENT_LIMIT_BYTES}) do
    event_bytes = event_bytes - #redis.call('LPOP', events)
    length = length - 1
  end
end
`,
});

/**
 * `store_fields(values, first)`: stores the fields of the run from that position of the list on, in commands
 * that `unpack` can fill.
 */
export const STORE_FIELDS = defineFragment({
  needs: ['run'],
  gives: ['store_fields'],
  lua: `
local function store_fields(values, first)
  for at = first, #values, ${UNPACK_LIMIT} do
    redis.call('HSET', run, unpack(values, at, math.min(at + ${UNPACK_LIMIT} - 1, #values)))
  end
end
`,
});

/**
 * `cancel_children()`: the run has ended. Requests the end of the children that it waits for, durably: their
 * runner, or any runner where none holds them, ends them.
 */
export const CANCEL_CHILDREN = defineFragment({
  needs: ['children', 'cancels'],
  gives: ['cancel_children'],
  lua: `
local function cancel_children()
  local members = redis.call('SMEMBERS', children)
  if #members == 0 then return end
  for _, child in ipairs(members) do
    redis.call('SADD', cancels, child)
    redis.call('PUBLISH', cancels, child)
  end
  redis.call('UNLINK', children)
end
`,
});

/**
 * `forget_unfinished(group, name)`: the run has ended, or its key is gone. If it was recorded, the first
 * run of its group that is not recorded yet may be.
 */
export const FORGET_UNFINISHED = defineFragment({
  needs: ['unfinished', 'beyond', 'unrecorded', 'now'],
  gives: ['forget_unfinished'],
  lua: `
local function forget_unfinished(group, name)
  local entry = group .. ' ' .. name
  if redis.call('ZREM', beyond, entry) == 1 or redis.call('ZREM', unfinished, entry) == 0 then return end
  local first = redis.call('ZRANGEBYLEX', beyond, '[' .. group .. ' ', '(' .. group .. '!', 'LIMIT', 0, 1)[1]
  if not first then return end
  redis.call('ZREM', beyond, first)
  redis.call('ZADD', unrecorded, 'NX', now, string.match(first, '[^ ]+$'))
end
`,
});

/** The keys that MISSING_RUN needs beside `meta`. */
export const MISSING_RUN_KEYS = [
  'ready',
  'overLimit',
  'replaceable',
  'claims',
  'cancels',
  'replaced',
  'unrecorded',
  'unfinished',
  'beyond',
  'wf',
  'runs',
  'events',
  'items',
  'calls',
  'signals',
  'children',
  ...MEMORY_LOCK_KEYS,
] as const satisfies readonly KeyName[];

/**
 * `fail_missing(name)`: somebody removed the key of that run by hand. Removes its claim and all entries that
 * name it, gives its slot to the oldest run over the limit, and counts it as failed. It leaves no summary,
 * because nothing is known about it. Returns `fenced`. The keys of `OTHER_END_KEYS` may be nil.
 */
export const MISSING_RUN = defineFragment({
  needs: ['meta', ...MISSING_RUN_KEYS],
  gives: ['fail_missing', 'release_memory', 'release_memories'],
  lua: `
${CANCEL_CHILDREN}
${RELEASE_MEMORIES}
local function fail_missing(name)
  ${ENQUEUE}
  ${FREE_SLOT}
  local group = string.match(wf, '[^:]+$')
  local active, limit, own, accepted, failed = unpack(redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted', 'Failed'))
  redis.call('ZREM', replaceable, group .. ' ' .. (redis.call('ZSCORE', runs, name) or '') .. ' ' .. name)
  redis.call('ZREM', runs, name)
  redis.call('ZREM', unrecorded, name)
  redis.call('ZREM', unfinished, group .. ' ' .. name)
  redis.call('ZREM', beyond, group .. ' ' .. name)
  if redis.call('SREM', cancels, name) == 1 then redis.call('HDEL', replaced, name) end
  redis.call('HDEL', claims, name)
  redis.call('UNLINK', events)
  if items then
    redis.call('UNLINK', items, calls, signals)
    cancel_children()
    release_memories(name)
  end
  -- A write would create the hash of a dropped workflow again.
  if accepted then
    active, own = free_slot(group, redis.call('HGET', meta, 'v'), tonumber(active or 0), limit, own)
    redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'Failed', tonumber(failed or 0) + 1)
  end
  return 'fenced'
end
`,
});
