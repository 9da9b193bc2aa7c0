/**
 * Room in the run store: claims leave room for the bytes that claimed runs will write, and what outlives a
 * run (its dedupe key, its reply, its summary) is counted until it expires. `store/keys.ts` says what the
 * fields of `meta` hold.
 */
import { defineFragment } from '../store/script.ts';

/** The most bytes of one run. */
export const RUN_LIMIT_BYTES = 8 * 1024 * 1024;
/** Bytes of a run beside its values: fields, indexes, first events. */
export const RUN_OVERHEAD_BYTES = 1_500;
/**
 * Bytes of a dedupe key with its run, the hash of the body and its expiry; measured by `npm run bench --
 * quotas`.
 */
export const DEDUPE_KEY_BYTES = 500;
/**
 * Bytes of a stored reply, and of a summary, beside their text: the key or twice the run's name, and the
 * expiry.
 */
export const REPLY_OVERHEAD_BYTES = 400;
export const SUMMARY_OVERHEAD_BYTES = 200;

/**
 * How long a dedupe key and a reply are stored after the run was recorded, and a summary after it was
 * accepted.
 */
export const DEDUPE_KEPT_S = 7 * 24 * 3600;
export const REPLY_KEPT_S = 3600;
export const SUMMARY_KEPT_S = 7 * 24 * 3600;
/** How long a run can still be read after it was recorded or removed. */
export const RUN_KEPT_S = 10;
/** How long a failed run is kept for runs that resume it, and which part of the quota such runs may take. */
export const FAILED_KEPT_S = 24 * 3600;
export const FAILED_PART = 1 / 8;
/** Summaries of one workflow. */
export const SUMMARIES_KEPT = 10_000;

/**
 * The summaries of a project may use this part of its quota of dedupe keys in addition, and its replies the
 * same.
 */
export const BESIDE_KEYS = 1 / 4;

/**
 * Bytes that expire within so many seconds are counted together, so that a project has at most about a
 * thousand counts.
 */
const COUNTED_TOGETHER_S = 600;

/** How much a run is expected to grow before any run of its project has, and at least. */
const FIRST_GROWTH_BYTES = 512 * 1024;
const LEAST_GROWTH_BYTES = 64 * 1024;
/** Without room, runs that have not begun do not wait for one that is due later. */
const DUE_SOON_MS = 60_000;
/** The expectation rises at once, and falls to the growth of recent runs within so many ends. */
const FORGOTTEN_IN_ENDS = 16;

/**
 * `expire_later(field, bytes, seconds)`: the field of `meta` counts the bytes for this time.
 * `subtract_expired(settled)`: subtracts what has expired since `settled`.
 */
export const EXPIRING = defineFragment({
  needs: ['meta', 'expiring', 'now'],
  gives: ['expire_later', 'subtract_expired'],
  lua: `
local function expire_later(field, bytes, seconds)
  redis.call('HINCRBY', expiring, field .. ' ' .. math.ceil((now / 1000 + seconds) / ${COUNTED_TOGETHER_S}), bytes)
end
local function subtract_expired(settled)
  local present = math.floor(now / ${COUNTED_TOGETHER_S * 1_000})
  if tonumber(settled) == present then return end
  local counts = redis.call('HGETALL', expiring)
  for index = 1, #counts, 2 do
    local name, bytes = counts[index], counts[index + 1]
    local field, expires_at = string.match(name, '^(%a+) (%d+)$')
    if tonumber(expires_at) <= present then
      redis.call('HDEL', expiring, name)
      redis.call('HINCRBY', meta, field, 0 - bytes)
    end
  end
  redis.call('HSET', meta, 'settled', present)
end
`,
});

/** Subtracts the summaries of a workflow that is dropped from its project's count. */
export const FORGET_SUMMARIES = defineFragment({
  needs: ['meta', 'wf'],
  lua: `
local summary_bytes = redis.call('HGET', wf, 'summaries')
if summary_bytes and redis.call('HEXISTS', meta, 'summaries') == 1 then
  redis.call('HINCRBY', meta, 'summaries', 0 - summary_bytes)
end
`,
});

/**
 * `room(used, quota, growth)`: how many more runs may be claimed, so that each claimed run can grow as runs
 * of the project do, and whether only a run that has begun may be. Without room, one run at a time continues,
 * so that a full store drains: one that has begun, as long as such a run is due soon, because its end makes
 * room. Waits of days do not stop the others.
 */
export const ROOM = defineFragment({
  needs: ['claims', 'parked', 'now'],
  gives: ['room'],
  lua: `
local function room(used, quota, growth)
  if not quota then return math.huge, false end
  local claimed = #redis.call('HKEYS', claims)
  local growing = tonumber(growth) or ${FIRST_GROWTH_BYTES}
  local free = math.floor((tonumber(quota) - tonumber(used or 0)) / growing) - claimed
  if free >= 1 then return free, false end
  if claimed > 0 then return 0, false end
  local soon = redis.call('ZRANGE', parked, '-inf', now + ${DUE_SOON_MS}, 'BYSCORE', 'LIMIT', 0, 1)
  return 1, #soon > 0
end
`,
});

/**
 * `learn_growth(expected, size, has_ended)`: how much runs are expected to grow, after one has grown to so
 * many bytes. Mostly the length of its input need not be read.
 */
export const LEARN_GROWTH = defineFragment({
  needs: ['run'],
  gives: ['learn_growth'],
  lua: `
local function learn_growth(expected, size, has_ended)
  expected = tonumber(expected) or ${FIRST_GROWTH_BYTES}
  local grown = size - ${RUN_OVERHEAD_BYTES}
  if grown < expected and (not has_ended or expected == ${LEAST_GROWTH_BYTES}) then return expected end
  grown = grown - redis.call('HSTRLEN', run, 'input')
  if grown >= expected then return grown end
  if not has_ended then return expected end
  return math.max(${LEAST_GROWTH_BYTES}, math.floor(expected - (expected - grown) / ${FORGOTTEN_IN_ENDS}))
end
`,
});

/** `announce_room(short)`: wakes runners where claims waited for room. */
export const ANNOUNCE_ROOM = defineFragment({
  needs: ['ready'],
  gives: ['announce_room'],
  lua: `
local function announce_room(short)
  local first = short == '1' and redis.call('ZRANGE', ready, 0, 0)[1]
  if first then redis.call('PUBLISH', ready, first) end
end
`,
});
