/** The end of a run, as the scripts share it that can end one. */
import type { KeyName } from '../store/keys.ts';
import { defineFragment } from '../store/script.ts';
import { TELL_PARENT } from './children.ts';
import { CANCEL_CHILDREN, FORGET_UNFINISHED, FREE_SLOT, LEASE_MS, STORE_FIELDS } from './lua.ts';
import { RELEASE_MEMORIES } from './memoryLocks.ts';
import { ANNOUNCE_ROOM, LEARN_GROWTH } from './room.ts';
import { SIGNAL_RUN } from './signals.ts';
import type { RunEventBody } from './types/event.ts';
import type { ChildResult, RunEnd } from './types/result.ts';

/**
 * How long an ended run's events are stored, in seconds; less when more than a hundred runs end in a minute.
 */
const EVENTS_KEPT_S = 600;
const EVENTS_KEPT_LEAST_S = 10;
const ENDS_A_MINUTE = 100;
/**
 * An end counts once more for each so many bytes of its events: the stored events of a project take about 8
 * MiB at any rate of ends.
 */
export const EVENT_BYTES_PER_END = 8 * 1024;
/** A failure is recorded before successes that ended within this time before it. */
const FAILURES_AHEAD_MS = 60_000;

/** The moves of other runs that END makes: one takes the slot, and the parent of a child run is woken. */
export const END_TRANSITIONS = ['overLimit > ready', 'parked > ready', 'parked > overLimit'] as const;

/**
 * The keys that END needs of a run that `ClaimRef` calls plain and that has not failed: each key costs time
 * here and in the run store.
 */
export const PLAIN_END_KEYS = [
  'meta',
  'ready',
  'overLimit',
  'replaceable',
  'unrecorded',
  'unfinished',
  'beyond',
  'cancels',
  'replaced',
  'wf',
  'run',
  'events',
  'claims',
] as const satisfies readonly KeyName[];

/** The keys that END needs of other runs beside these, all together. */
export const OTHER_END_KEYS = [
  'parked',
  'failures',
  'items',
  'calls',
  'spent',
  'signals',
  'signaled',
  'children',
  'parent',
  'parentWf',
  'parentSignals',
  'siblings',
  'memoryLocks',
] as const satisfies readonly KeyName[];

/** The keys that END needs of any run. */
export const END_KEYS = [...PLAIN_END_KEYS, ...OTHER_END_KEYS] as const;

/** The arguments that END needs, in the order of `endArgs`. */
export const END_ARGS = ['phase', 'reason', 'message', 'end_event', 'result'] as const;

/** The values of `END_ARGS`. */
export function endArgs({
  phase,
  reason = '',
  message = '',
  output,
}: RunEnd): Record<(typeof END_ARGS)[number], string> {
  const result: ChildResult = { phase, reason, message, ...(output && { output }) };
  return { ...plainEndArgs({ phase, reason, message }), result: JSON.stringify(result) };
}

/** The same for a run without a parent, which nobody tells the result. */
export function plainEndArgs({
  phase,
  reason = '',
  message = '',
}: RunEnd): Record<(typeof END_ARGS)[number], string> {
  const event = eventText({ type: 'run', phase, ...shortened({ reason, message }) });
  return { phase, reason, message, end_event: event, result: '' };
}

/** A live event as scripts store it. */
export function eventText(event: RunEventBody): string {
  return JSON.stringify(event);
}

/** In events; the node itself keeps the whole message. */
const EVENT_MESSAGE_LENGTH = 300;

/** Reason and message for an event. */
export function shortened({ reason = '', message = '' }: { reason?: string; message?: string }) {
  return { ...(reason && { reason }), ...(message && { message: message.slice(0, EVENT_MESSAGE_LENGTH) }) };
}

/**
 * `end_of(run_id)`: the reason, message and event with which the run ends, and the result for its parent. A
 * cancelled run that a newer one replaced ends with the reason `Replaced`.
 */
export const END_REASON = defineFragment({
  needs: ['cancels', 'replaced', ...END_ARGS],
  gives: ['end_of'],
  lua: `
local function end_of(run_id)
  local newer = redis.call('SREM', cancels, run_id) == 1 and redis.call('HGET', replaced, run_id)
  if not newer then return reason, message, end_event, result end
  redis.call('HDEL', replaced, run_id)
  if phase ~= 'Cancelled' then return reason, message, end_event, result end
  local text = 'Run ' .. newer .. ' replaced this run (concurrency.policy: Replace).'
  local cancelled = '"phase":"Cancelled","reason":"Replaced","message":"' .. text .. '"}'
  return 'Replaced', text, '{"type":"run",' .. cancelled, '{' .. cancelled
end
`,
});

/**
 * `events_ttl(ends)`: how many seconds the events of an ended run are stored, when so many ends were counted
 * this minute.
 */
export const EVENTS_TTL = defineFragment({
  gives: ['events_ttl'],
  lua: `
local function events_ttl(ends)
  if ends <= ${ENDS_A_MINUTE} then return ${EVENTS_KEPT_S} end
  return math.max(${EVENTS_KEPT_LEAST_S}, math.floor(${EVENTS_KEPT_S * ENDS_A_MINUTE} / ends))
end
`,
});

/**
 * `end_run(group, has_slot, accepted, sequence, added, size, fields)`: ends the run, once and for all. The
 * caller removes it from claims or queue. `has_slot`: it counts against the limit, so that the oldest run
 * over the limit takes its place. `added`: bytes that this step adds. `size`: bytes of the run, where a
 * runner ends it. `fields`: names and values that the step stores.
 * Reads come first: a key of a wrong type fails the script before it has changed anything, and the caller
 * calls again. The keys of `OTHER_END_KEYS` may be nil where the run has not failed.
 */
export const END = defineFragment({
  needs: [
    ...END_KEYS,
    ...END_ARGS,
    'run_id',
    'now',
    'wall',
    'event_count',
    'event_bytes',
    'emit',
    'write_events',
    'enqueue',
  ],
  gives: ['end_run'],
  lua: `
${FREE_SLOT}
${LEARN_GROWTH}
${ANNOUNCE_ROOM}
${END_REASON}
${EVENTS_TTL}
${FORGET_UNFINISHED}
${STORE_FIELDS}
local function end_run(group, has_slot, accepted, sequence, added, size, fields)
  local waiting = 'waiting:' .. phase
  local bytes, virtual, minute, ends, growth, short = unpack(redis.call('HMGET', meta, 'bytes', 'v', 'minute', 'ends', 'growth', 'short'))
  local active, limit, own, known, ended, unrecorded_ends, on_failure = unpack(
    redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted', phase, waiting, 'onFailure'))
  local record_at = redis.call('ZSCORE', unrecorded, run_id)
  -- Mostly no run of the project is in any of these.
  local is_listed = redis.call('EXISTS', replaceable, cancels, unfinished, beyond) > 0
  local why, text, event, told = reason, message, end_event, result
  if is_listed then
    redis.call('ZCARD', unfinished)
    redis.call('ZCARD', beyond)
    redis.call('ZREM', replaceable, group .. ' ' .. accepted .. ' ' .. run_id)
    why, text, event, told = end_of(run_id)
  end
  emit(event)
  write_events()
  active = tonumber(active or 0)
  if has_slot then active, own = free_slot(group, virtual, active, limit, own) end
  fields = fields or {}
  local last = #fields
  fields[last + 1], fields[last + 2], fields[last + 3], fields[last + 4] = 'phase', phase, 'ended', wall
  fields[last + 5], fields[last + 6], fields[last + 7], fields[last + 8] = 'reason', why, 'message', text
  fields[last + 9], fields[last + 10] = 'sequence', sequence
  fields[last + 11], fields[last + 12], fields[last + 13], fields[last + 14] = 'evcount', event_count, 'evbytes', event_bytes
  store_fields(fields, 1)
  if phase == 'Failed' and on_failure then
    redis.call('HSET', failures, run_id, '{"target":' .. on_failure .. '}')
    redis.call('HSET', run, 'unreported', 1)
  end

  local this_minute, counted = math.floor(now / 60000), 1 + math.floor(event_bytes / ${EVENT_BYTES_PER_END})
  if tonumber(minute) == this_minute then counted = counted + tonumber(ends) end
  redis.call('HSET', meta, 'bytes', tonumber(bytes or 0) + added, 'minute', this_minute, 'ends', counted,
    'growth', size and learn_growth(growth, size, true) or growth or '')
  redis.call('EXPIRE', events, events_ttl(counted))
  if items then
    redis.call('UNLINK', calls, spent, signals)
    -- A run that resumes a failed one needs its items.
    if phase ~= 'Failed' then redis.call('UNLINK', items) end
    ${CANCEL_CHILDREN}
    ${RELEASE_MEMORIES}
    cancel_children()
    release_memories(run_id)
  end
  if is_listed then forget_unfinished(group, run_id) end

  -- A write would create the hash of a dropped workflow again.
  if known then
    redis.call('HSET', wf, 'active', active, 'vt', own or 0,
      phase, tonumber(ended or 0) + 1, waiting, tonumber(unrecorded_ends or 0) + 1)
  end
  if not record_at or tonumber(record_at) < now + ${LEASE_MS / 2} then
    redis.call('ZADD', unrecorded, phase == 'Failed' and now - ${FAILURES_AHEAD_MS} or now, run_id)
  end
  if parent and parent ~= run then
    ${SIGNAL_RUN}
    ${TELL_PARENT}
    tell_parent(told)
  end
  redis.call('PUBLISH', run, 'end')
  announce_room(short)
end
`,
});
