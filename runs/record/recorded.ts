/**
 * What happens to a run once its state is recorded, or need not be: an ended run leaves the run store, and a
 * summary stays.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { NOW_OF_READ } from '../../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../../store/script.ts';
import { COALESCE_MS, UNPACK_LIMIT } from '../lua.ts';
import {
  ANNOUNCE_ROOM,
  BESIDE_KEYS,
  DEDUPE_KEPT_S,
  DEDUPE_KEY_BYTES,
  EXPIRING,
  FAILED_KEPT_S,
  FAILED_PART,
  REPLY_KEPT_S,
  REPLY_OVERHEAD_BYTES,
  RUN_KEPT_S,
  SUMMARIES_KEPT,
  SUMMARY_OVERHEAD_BYTES,
} from '../room.ts';
import { scriptKeys } from '../scriptKeys.ts';
import type { RunState } from '../types/run.ts';
import { toSummary } from './record.ts';

/** How many unrecorded runs a workflow keeps whose limits the operator has not set. */
export const HISTORY = 10;
/** Summaries that are dropped at once where a project has too many. */
const EVICTED = 20;
/** A run that ended within this time may still be recorded at once. */
export const SETTLED_MS = 1_000;
/** A larger reply is not stored with the dedupe key. */
const REPLY_KEPT_BYTES = 64 * 1024;

/**
 * `room_for_summaries(new, added)`: by how many bytes so many new summaries, which take so many, make the
 * project's larger. Where the workflow has too many summaries, or the project's take too much, the workflow's
 * oldest are dropped, but for one.
 */
export const ROOM_FOR_SUMMARIES = defineFragment({
  needs: ['summarized', 'summaries', 'key_quota', 'summary_bytes'],
  gives: ['room_for_summaries'],
  lua: `
local function room_for_summaries(new, added)
  local most = (tonumber(key_quota) or math.huge) * ${BESIDE_KEYS} - tonumber(summary_bytes or 0)
  local count = redis.call('ZCARD', summarized)
  local excess = count - ${SUMMARIES_KEPT}
  if added > most then excess = math.max(excess, math.min(${EVICTED} * new, count - 1)) end
  if excess <= 0 then return added end
  local dropped = {}
  for index, name in ipairs(redis.call('ZRANGE', summarized, 0, math.min(excess, ${UNPACK_LIMIT}) - 1)) do
    if added <= most and count - index < ${SUMMARIES_KEPT} then break end
    added = added - ${SUMMARY_OVERHEAD_BYTES} - redis.call('HSTRLEN', summaries, name)
    dropped[index] = name
  end
  if #dropped == 0 then return added end
  redis.call('ZREM', summarized, unpack(dropped))
  redis.call('HDEL', summaries, unpack(dropped))
  return added
end
`,
});

/**
 * `keep_key()`: stores the dedupe key for days, and the reply for an hour where there is room. Without a
 * reply the key has the phase.
 */
const KEEP_KEY = defineFragment({
  needs: ['meta', 'dedupe', 'reply', 'expire_later', 'phase', 'reply_text', 'key_quota', 'reply_bytes'],
  gives: ['keep_key'],
  lua: `
local function keep_key()
  -- A key with a phase expires already: another run had it.
  if redis.call('HSETNX', dedupe, 'phase', reply_text and '' or phase) == 0 then return end
  redis.call('EXPIRE', dedupe, ${DEDUPE_KEPT_S})
  expire_later('keys', ${DEDUPE_KEY_BYTES}, ${DEDUPE_KEPT_S})
  if not reply_text then return end
  local size = #reply_text + ${REPLY_OVERHEAD_BYTES}
  local most = (tonumber(key_quota) or math.huge) * ${BESIDE_KEYS} - tonumber(reply_bytes or 0)
  if #reply_text <= ${REPLY_KEPT_BYTES} and size <= most then
    redis.call('SET', reply, reply_text, 'EX', ${REPLY_KEPT_S})
    expire_later('replies', size, ${REPLY_KEPT_S})
    redis.call('HINCRBY', meta, 'replies', size)
  end
end
`,
});

/**
 * `is_excess()`: the run need not be recorded. It ended a while ago, its workflow has more unrecorded runs
 * than its history keeps, and nobody has begun to create its object, which would then stay as it is for ever.
 */
const IS_EXCESS = defineFragment({
  needs: ['ended', 'recorded', 'creating', 'wall', 'unrecorded_ends', 'history'],
  gives: ['is_excess'],
  lua: `
local function is_excess()
  if not ended or recorded or creating or math.abs(wall - ended) < ${SETTLED_MS} then return false end
  return tonumber(unrecorded_ends or 0) > tonumber(history or ${HISTORY})
end
`,
});

/**
 * `keep_failed(quota, kept)`: keeps a failed run for a day, where there is room, so that another run can
 * resume it. A copy, because its name is free again. An account of an older version may not copy: then
 * nothing is kept.
 */
const KEEP_FAILED = defineFragment({
  needs: ['meta', 'run', 'items', 'failed', 'failedItems', 'bytes', 'expire_later'],
  gives: ['keep_failed'],
  lua: `
local function keep_failed(quota, kept)
  local most = (tonumber(quota) or math.huge) * ${FAILED_PART}
  local copied = tonumber(kept or 0) + bytes <= most and redis.pcall('COPY', run, failed)
  if copied ~= 1 then
    redis.call('UNLINK', items)
    return
  end
  redis.call('EXPIRE', failed, ${FAILED_KEPT_S})
  if redis.call('EXISTS', items) == 1 then
    redis.call('RENAME', items, failedItems)
    redis.call('EXPIRE', failedItems, ${FAILED_KEPT_S})
  end
  expire_later('kept', bytes, ${FAILED_KEPT_S})
  redis.call('HINCRBY', meta, 'kept', bytes)
end
`,
});

/** Removes the run from the indexes of its project and group. It can be read for a few more seconds. */
const DROP_RECORDED = defineFragment({
  needs: ['runs', 'unrecorded', 'run', 'run_id'],
  lua: `
redis.call('ZREM', runs, run_id)
redis.call('ZREM', unrecorded, run_id)
redis.call('HSET', run, 'dropped', 1)
redis.call('EXPIRE', run, ${RUN_KEPT_S})
`,
});

const RECORDED = defineScript({
  flags: 'drains',
  transitions: ['ended > none'],
  // The last two are left out where the run has no dedupe key.
  keys: [
    'meta',
    'ready',
    'unrecorded',
    'wf',
    'run',
    'runs',
    'items',
    'failed',
    'failedItems',
    'summarized',
    'summaries',
    'expiring',
    'dedupe',
    'reply',
  ],
  // `why`: `written`, or `excess` where the caller holds that the run need not be recorded.
  args: ['run_id', 'sequence', 'why', 'summary'],
  answers: {
    recorded: 'the record is as the run; an ended run is dropped',
    behind: 'the run has advanced',
    kept: 'the run is to be recorded',
    gone: 'the run was dropped before',
  },
  body: `
    local store_id, last, ahead, used, key_quota, summary_bytes, reply_bytes, short, quota, kept, settled = unpack(
      redis.call('HMGET', meta, 'id', 'clock', 'ahead', 'bytes', 'keyQuota', 'summaries', 'replies', 'short', 'quota',
        'kept', 'settled'))
    if not store_id then return redis.error_reply('NOLOG the run store is empty') end
    local phase, stored_sequence, ended, bytes, dropped, reply_text, accepted, recorded, creating, unreported = unpack(
      redis.call('HMGET', run, 'phase', 'sequence', 'ended', 'bytes', 'dropped', 'reply', 'accepted', 'recorded',
        'creating', 'unreported'))
    if not phase or dropped then
      redis.call('ZREM', unrecorded, run_id)
      return 'gone'
    end
    ${NOW_OF_READ}
    -- Its error workflow is not started yet.
    if unreported then
      redis.call('ZADD', unrecorded, now + ${COALESCE_MS}, run_id)
      return 'kept'
    end
    local waiting = 'waiting:' .. phase
    local known, unrecorded_ends, history, own_summaries = unpack(
      redis.call('HMGET', wf, 'accepted', waiting, 'keep:' .. phase, 'summaries'))
    ${IS_EXCESS}
    if why == 'excess' and not is_excess() then return 'kept' end
    if (stored_sequence or '0') ~= sequence then
      redis.call('ZADD', unrecorded, ended and now or now + ${COALESCE_MS}, run_id)
      return 'behind'
    end
    if not ended then
      redis.call('ZREM', unrecorded, run_id)
      return 'recorded'
    end

    ${EXPIRING}
    if phase == 'Failed' then
      subtract_expired(settled)
      summary_bytes, reply_bytes, kept = unpack(redis.call('HMGET', meta, 'summaries', 'replies', 'kept'))
    end
    -- Somebody may have removed the key by hand: the event may be another run now.
    local is_deduped = dedupe and redis.call('HGET', dedupe, 'run') == run_id
    -- Writes that can be repeated come first: where a key is of a wrong type, the run stays unrecorded and
    -- nothing is counted twice.
    -- A dropped workflow has no summaries, and a write would create its hash again.
    if known then
      redis.call('ZADD', summarized, accepted, run_id)
      redis.call('HSET', summaries, run_id, summary)
    end
    if phase == 'Failed' then
      ${KEEP_FAILED}
      keep_failed(quota, kept)
    end
    ${DROP_RECORDED}
    used = tonumber(used or 0) - bytes
    if known then
      ${ROOM_FOR_SUMMARIES}
      local added = room_for_summaries(1, ${SUMMARY_OVERHEAD_BYTES} + #summary)
      -- Where the hash was removed by hand, it does not count runs that ended before.
      redis.call('HSET', wf, waiting, math.max(0, tonumber(unrecorded_ends or 0) - 1),
        'summaries', tonumber(own_summaries or 0) + added)
      redis.call('HSET', meta, 'bytes', used, 'summaries', tonumber(summary_bytes or 0) + added)
    else
      redis.call('HSET', meta, 'bytes', used)
    end
    if is_deduped then
      ${KEEP_KEY}
      keep_key()
    elseif dedupe then
      redis.call('HINCRBY', meta, 'keys', -${DEDUPE_KEY_BYTES})
    end
    ${ANNOUNCE_ROOM}
    announce_room(short)
    return 'recorded'
  `,
});

/**
 * - `recorded`: the record is as the run. An ended run leaves the store in ten seconds; its summary stays.
 * - `behind`: the run has advanced, and will be recorded again.
 * - `kept`: no excess; the run is still to be recorded.
 * - `gone`: the store does not have the run any more.
 */
export type Dropped = 'recorded' | 'behind' | 'kept' | 'gone';

/**
 * Tells the store that this very state of the run is recorded; or, with `excess`, that it need not be, if
 * its workflow has more unrecorded runs than its history keeps.
 */
export function recorded(
  conn: RunStoreConnection,
  state: RunState,
  why: 'written' | 'excess',
): Promise<Dropped | Unavailable> {
  const { project, workflowUid, dedupeHash } = state;
  const keys = scriptKeys(RECORDED, state).slice(0, -2);
  if (dedupeHash !== undefined) {
    const { dedupe, reply } = keysOf(project);
    keys.push(dedupe(workflowUid, dedupeHash), reply(workflowUid, dedupeHash));
  }
  const summary = state.endedAt === undefined ? '' : JSON.stringify(toSummary(state));
  const args = argumentsOf(RECORDED, { run_id: state.run, sequence: state.sequence, why, summary });
  return orUnavailable(async () => (await conn.script(RECORDED, keys, args)) as Dropped);
}
