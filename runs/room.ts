/**
 * Room in the run store: claims leave room for what claimed runs will write, and what outlives a run (its dedupe key, its
 * reply) is counted for its project until it expires. `store/keys.ts` says what the fields of `meta` hold.
 */

/** What a run takes beside its values: fields, indexes, first events. */
export const RUN_OVERHEAD_BYTES = 1_500;
/** What a dedupe key takes with its run, the hash of the body and its expiry; measured by `npm run bench -- quotas`. */
export const DEDUPE_KEY_BYTES = 500;
/** What a kept reply, and a summary, take beside their text: the key or the run's name twice, and the expiry. */
export const REPLY_OVERHEAD_BYTES = 400;
export const SUMMARY_OVERHEAD_BYTES = 200;

/** How long a dedupe key and a reply are kept after the run was recorded, and a summary after it was accepted. */
export const DEDUPE_KEPT_S = 7 * 24 * 3600;
export const REPLY_KEPT_S = 3600;
export const SUMMARY_KEPT_S = 7 * 24 * 3600;
/** How long a run can still be read after it was recorded or removed. */
export const RUN_KEPT_S = 10;
/** Summaries of one workflow. */
export const SUMMARIES_KEPT = 10_000;

/** Of what a project may keep in dedupe keys, its summaries may take this part besides, and its replies the same. */
export const BESIDE_KEYS = 1 / 4;

/** What expires within so many seconds is counted together, so that a project has at most about a thousand counts. */
const COUNTED_TOGETHER_S = 600;

/** What a run is expected to grow by before any run of its project has, and at the least. */
const FIRST_GROWTH_BYTES = 512 * 1024;
const LEAST_GROWTH_BYTES = 64 * 1024;
/** The expectation approaches what runs grow by in so many ends; it rises at once. */
const FORGOTTEN_IN_ENDS = 16;

/**
 * `expire_later(field, bytes, seconds)`: the field of `meta` counts the bytes for so long. `settle(settled)`: takes off what has expired
 * since. Needs `meta`, `expiring`, `now`.
 */
export const EXPIRING = `
local function expire_later(field, bytes, seconds)
  redis.call('HINCRBY', expiring, field .. ' ' .. math.ceil((now / 1000 + seconds) / ${COUNTED_TOGETHER_S}), bytes)
end
local function settle(settled)
  local present = math.floor(now / ${COUNTED_TOGETHER_S * 1_000})
  if tonumber(settled) == present then return end
  local counts = redis.call('HGETALL', expiring)
  for index = 1, #counts, 2 do
    local field, over = string.match(counts[index], '^(%a+) (%d+)$')
    if tonumber(over) <= present then
      redis.call('HDEL', expiring, counts[index])
      redis.call('HINCRBY', meta, field, 0 - counts[index + 1])
    end
  end
  redis.call('HSET', meta, 'settled', present)
end
`;

/** Takes the summaries of a workflow that goes off its project's count. `-summaries` would be `-0` where none is left, which Redis refuses. Needs `meta`, `wf`. */
export const FORGET_SUMMARIES = `
local summaries = redis.call('HGET', wf, 'summaries')
if summaries and redis.call('HEXISTS', meta, 'summaries') == 1 then
  redis.call('HINCRBY', meta, 'summaries', 0 - summaries)
end
`;

/**
 * `room(used, quota, growth)`: how many more runs may be claimed, so that each claimed run has room for what runs of the project grow
 * by, and whether only a run that has begun may be. Where there is no room, one run at a time goes on, so that a full store drains: one
 * that has begun, as long as there are such runs, since its end makes room. Needs `claims`, `due`.
 */
export const ROOM = `
local function room(used, quota, growth)
  if not quota then return math.huge, false end
  local claimed = #redis.call('HKEYS', claims)
  local growing = tonumber(growth) or ${FIRST_GROWTH_BYTES}
  local free = math.floor((tonumber(quota) - tonumber(used or 0)) / growing) - claimed
  if free >= 1 then return free, false end
  if claimed > 0 then return 0, false end
  return 1, redis.call('ZCARD', due) > 0
end
`;

/** `learn(expected, grown, is_over)`: what runs are expected to grow by, after one has grown by so many bytes. */
export const LEARN_GROWTH = `
local function learn(expected, grown, is_over)
  expected = tonumber(expected) or ${FIRST_GROWTH_BYTES}
  if grown >= expected then return grown end
  if not is_over then return expected end
  return math.max(${LEAST_GROWTH_BYTES}, math.floor(expected - (expected - grown) / ${FORGOTTEN_IN_ENDS}))
end
`;

/** `announce_room(short)`: wakes runners where claims were held back for lack of room. Needs `q`. */
export const ANNOUNCE_ROOM = `
local function announce_room(short)
  local first = short == '1' and redis.call('ZRANGE', q, 0, 0)[1]
  if first then redis.call('PUBLISH', q, first) end
end
`;
