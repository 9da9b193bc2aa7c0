/**
 * The script that ends several runs in one call: what `advance` does for each of them, with the totals, the
 * clock and the limits of the project read and written once.
 */
import { NOW_OF_READ } from '../store/lua.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { FIRST_SUCCESS } from './advanceFragments.ts';
import { END_ARGS, END_REASON, EVENT_BYTES_PER_END, EVENTS_TTL } from './end.ts';
import { ENQUEUE, EVENTS, FORGET_UNFINISHED, FREE_SLOT, LEASE_MS, STORE_FIELDS } from './lua.ts';
import { ANNOUNCE_ROOM, LEARN_GROWTH, RUN_LIMIT_BYTES } from './room.ts';

/** `steps`: what each step stores and emits, and by how many bytes its values make the run larger. */
const STEPS = defineFragment({
  needs: ['ends', 'nodes'],
  gives: ['steps', 'run_ids'],
  lua: `
local steps, run_ids = {}, {}
for index, run_id in ends() do
  local step = {}
  step.names, step.fields, step.events, step.added = {}, {}, {}, 0
  steps[index], run_ids[index] = step, run_id
end
for _, at, field, value, event in nodes() do
  local step = steps[tonumber(at)]
  local fields = step.fields
  step.added = step.added + #value
  step.names[#step.names + 1] = field
  fields[#fields + 1] = field
  fields[#fields + 1] = value
  if event == '${FIRST_SUCCESS}' then
    event = '{"type":"node","node":"' .. string.sub(field, 3) .. '","phase":"Succeeded","attempt":1}'
  end
  if event ~= '' then step.events[#step.events + 1] = event end
end
`,
});

/**
 * `read_step(step, reply, follows)`: notes in the step what the store has of its run. The step `fits` where
 * it is the next one of the run, and the run has room for it.
 */
const READ_STEP = defineFragment({
  needs: ['run'],
  gives: ['read_step'],
  lua: `
local function read_step(step, reply, follows)
  local stored = redis.call('HMGET', run, 'accepted', 'sequence', 'bytes', 'reply', 'evcount', 'evbytes', 'wf',
    unpack(step.names))
  local accepted, sequence, bytes, known_reply, ev_count, ev_bytes, group = unpack(stored)
  if not group or tonumber(sequence) ~= tonumber(follows) then return end
  -- Damaged fields fail the run alone.
  if not (tonumber(bytes) and tonumber(ev_count) and tonumber(ev_bytes)) then return end
  for at = #stored - #step.names + 1, #stored do
    if stored[at] then step.added = step.added - #stored[at] end
  end
  local fields = step.fields
  if reply ~= '' and not known_reply then
    step.added = step.added + #reply
    fields[#fields + 1] = 'reply'
    fields[#fields + 1] = reply
  end
  step.size = tonumber(bytes) + step.added
  step.sequence, step.accepted, step.group = tonumber(follows) + 1, accepted, group
  step.event_count, step.event_bytes = ev_count, ev_bytes
  step.fits = step.size <= ${RUN_LIMIT_BYTES}
end
`,
});

/** `totals_of()`: what the project has of the workflow, read once. `isDamaged`: its limit is no number. */
const TOTALS_OF = defineFragment({
  needs: ['wf', 'phase', 'waiting', 'totals'],
  gives: ['totals_of'],
  lua: `
local function totals_of()
  local found = totals[wf]
  if found then return found end
  local active, limit, own, known, ended, unrecorded_ends = unpack(
    redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted', phase, waiting))
  found = {}
  found.active, found.limit, found.own, found.known = tonumber(active or 0), limit, own, known
  found.isDamaged = not found.active or (limit and not tonumber(limit))
  found.ended, found.unrecorded_ends = tonumber(ended or 0), tonumber(unrecorded_ends or 0)
  totals[wf] = found
  return found
end
`,
});

/** `emit_step(step)`: stores the events of the step, and completes its fields. */
const EMIT_STEP = defineFragment({
  needs: [
    'event_count',
    'event_bytes',
    'emit',
    'write_events',
    'wall',
    'phase',
    'reason',
    'message',
    'end_event',
  ],
  gives: ['emit_step'],
  lua: `
local function emit_step(step)
  event_count, event_bytes = step.event_count, step.event_bytes
  for _, json in ipairs(step.events) do emit(json) end
  emit(end_event)
  write_events()
  step.event_bytes = event_bytes
  local fields = step.fields
  local last = #fields
  fields[last + 1], fields[last + 2], fields[last + 3], fields[last + 4] = 'phase', phase, 'ended', wall
  fields[last + 5], fields[last + 6], fields[last + 7], fields[last + 8] = 'reason', reason, 'message', message
  fields[last + 9], fields[last + 10], fields[last + 11], fields[last + 12] = 'sequence', step.sequence, 'bytes', step.size
  fields[last + 13], fields[last + 14], fields[last + 15], fields[last + 16] = 'evcount', event_count, 'evbytes', event_bytes
end
`,
});

/**
 * Reads the shared keys that are written later: a key of a wrong type fails the script before it has changed
 * anything.
 */
const TYPES_ARE_RIGHT = defineFragment({
  needs: [
    'ready',
    'overLimit',
    'replaceable',
    'unfinished',
    'beyond',
    'cancels',
    'replaced',
    'has_limit',
    'is_listed',
    'short',
  ],
  lua: `
if has_limit or short == '1' then
  redis.call('ZCARD', ready)
  redis.call('ZCARD', overLimit)
end
if is_listed then
  redis.call('ZCARD', replaceable)
  redis.call('ZCARD', unfinished)
  redis.call('ZCARD', beyond)
  redis.call('SISMEMBER', cancels, '')
  redis.call('HEXISTS', replaced, '')
end
`,
});

/** Writes what is shared, once, and gives the claims up. */
const COUNT_ENDS = defineFragment({
  needs: [
    'meta',
    'claims',
    'unrecorded',
    'phase',
    'waiting',
    'totals',
    'recorded',
    'ended',
    'used',
    'this_minute',
    'counted',
    'growth',
    'short',
    'ready',
  ],
  lua: `
${ANNOUNCE_ROOM}
redis.call('HSET', meta, 'bytes', used, 'minute', this_minute, 'ends', counted, 'growth', growth)
-- A write would create the hash of a dropped workflow again.
for wf, total in pairs(totals) do
  if total.known then
    redis.call('HSET', wf, 'active', total.active, 'vt', total.own or 0,
      phase, total.ended, waiting, total.unrecorded_ends)
  end
end
if #recorded > 0 then redis.call('ZADD', unrecorded, unpack(recorded)) end
redis.call('HDEL', claims, unpack(ended))
announce_room(short)
`,
});

/**
 * Ends runs of one project that `ClaimRef` calls plain. A step that is not simply the next one of its run
 * changes nothing, and says so: `advance` knows what to do with it. In three loops: what may find a key of a
 * wrong type comes before any run has ended. Where the events of one run are no list, those of runs before it
 * may be stored twice.
 */
export const END_TOGETHER = defineScript({
  flags: 'drains',
  transitions: ['claimed > ended', 'overLimit > ready'],
  keys: [
    'meta',
    'ready',
    'overLimit',
    'replaceable',
    'unrecorded',
    'unfinished',
    'beyond',
    'cancels',
    'replaced',
    'claims',
  ],
  args: [...END_ARGS],
  lists: {
    // `at`: the position of its run among the ends.
    nodes: { args: ['at', 'field', 'value', 'event'] },
    ends: { args: ['run_id', 'token', 'follows', 'reply'], keys: ['wf', 'run', 'events'] },
  },
  answers: 'for each run 1 where it has ended, and 0 where its step is to be sent by itself',
  body: `
    local store_id, last, ahead, used, virtual, minute, counted, growth, short = unpack(
      redis.call('HMGET', meta, 'id', 'clock', 'ahead', 'bytes', 'v', 'minute', 'ends', 'growth', 'short'))
    ${NOW_OF_READ}
    local wf, run, events, event_count, event_bytes
    local waiting, totals = 'waiting:' .. phase, {}
    ${STEPS}
    ${READ_STEP}
    ${TOTALS_OF}
    local tokens = redis.call('HMGET', claims, unpack(run_ids))
    local recorded, has_limit = {}, false
    for index, run_id, token, follows, reply in ends() do
      wf, run = keys_of_ends(index)
      if tokens[index] == token then read_step(steps[index], reply, follows) end
      if steps[index].fits then
        local total = totals_of()
        has_limit = has_limit or total.limit
        steps[index].fits = not total.isDamaged
        local record_at = redis.call('ZSCORE', unrecorded, run_id)
        if not record_at or tonumber(record_at) < now + ${LEASE_MS / 2} then
          recorded[#recorded + 1] = now
          recorded[#recorded + 1] = run_id
        end
      end
    end

    -- Mostly no run of the project is in any of these.
    local is_listed = redis.call('EXISTS', replaceable, cancels, unfinished, beyond) > 0
    ${TYPES_ARE_RIGHT}

    ${EVENTS}
    ${EMIT_STEP}
    for index, run_id in ends() do
      wf, run, events = keys_of_ends(index)
      if steps[index].fits then emit_step(steps[index]) end
    end

    ${END_REASON}
    ${FORGET_UNFINISHED}

    ${ENQUEUE}
    ${FREE_SLOT}
    ${STORE_FIELDS}
    ${LEARN_GROWTH}
    ${EVENTS_TTL}
    local this_minute, ended, answers = math.floor(now / 60000), {}, {}
    counted = tonumber(minute) == this_minute and tonumber(counted) or 0
    used = tonumber(used or 0)
    for index, run_id in ends() do
      local step = steps[index]
      answers[index] = step.fits and 1 or 0
      if step.fits then
        wf, run, events = keys_of_ends(index)
        local total = totals_of()
        total.active, total.own = free_slot(step.group, virtual, total.active, total.limit, total.own)
        total.ended, total.unrecorded_ends = total.ended + 1, total.unrecorded_ends + 1
        if is_listed then
          redis.call('ZREM', replaceable, step.group .. ' ' .. step.accepted .. ' ' .. run_id)
          end_of(run_id)
          forget_unfinished(step.group, run_id)
        end
        store_fields(step.fields, 1)
        counted = counted + 1 + math.floor(step.event_bytes / ${EVENT_BYTES_PER_END})
        redis.call('EXPIRE', events, events_ttl(counted))
        redis.call('PUBLISH', run, 'end')
        used, growth = used + step.added, learn_growth(growth, step.size, true)
        ended[#ended + 1] = run_id
      end
    end
    if #ended == 0 then return answers end
    ${COUNT_ENDS}
    return answers
  `,
});
