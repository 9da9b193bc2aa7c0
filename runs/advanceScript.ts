/**
 * The script of `advance`: stores one step of a run as a whole or not at all, and only for the runner that
 * holds the run.
 */
import type { RunStoreConnection } from '../store/connection.ts';
import { NOW } from '../store/lua.ts';
import { defineScript } from '../store/script.ts';
import { EMIT_NODES, STEP_FIELDS, STORE_ITEMS } from './advanceFragments.ts';
import { END, END_ARGS, END_TRANSITIONS, OTHER_END_KEYS, PLAIN_END_KEYS } from './end.ts';
import {
  COALESCE_MS,
  ENQUEUE,
  EVENTS,
  FENCE,
  MISSING_RUN,
  PARKED_EVENT_BYTES,
  STORE_FIELDS,
  UNPACK_LIMIT,
} from './lua.ts';
import { END_MEMORIES, MEMORY_END_ROW } from './memory.ts';
import { HAS_MEMORY } from './memoryLocks.ts';
import { PARK_RUN, RELEASE_RUN } from './park.ts';
import { LEARN_GROWTH, RUN_LIMIT_BYTES } from './room.ts';
import { requiredKeys, scriptKeys } from './scriptKeys.ts';
import { IS_SEEN, REFUSE_SEEN, REMEMBER, REMEMBER_ROW, seenKey } from './seen.ts';
import type { Advance, Remembered } from './types/advance.ts';
import type { ClaimRef } from './types/claim.ts';

export const ADVANCE = defineScript({
  flags: 'drains',
  transitions: [
    'claimed > claimed',
    'claimed > parked',
    'claimed > ended',
    'claimed > none',
    ...END_TRANSITIONS,
  ],
  keys: [...PLAIN_END_KEYS],
  optionalKeys: [...OTHER_END_KEYS, 'runs', 'seenNodes', 'memory', 'memories', 'memoryExpiry'],
  args: [
    'run_id',
    'token',
    // 1: the step has checkpoints or calls of agents; it has some that the limit of the run may refuse.
    'checkpoints',
    'outputs',
    'reply',
    ...END_ARGS,
    // Milliseconds after which a parked run is ready again.
    'park',
    // The version of the signals that the runner has read.
    'read',
    // The sequence that the step follows, and 1 where it has all that the runner knows of the run.
    'follows',
    'whole',
    // 1: the runner itself got the run in doubt, so that a whole step does not end the doubt.
    'in_doubt',
    // Bytes that results of tools in progress may take.
    'reserved',
  ],
  lists: {
    waits: { args: ['node', 'delay'] },
    item_nodes: { args: ['field', 'value', 'delay', 'event'] },
    dropped: { args: ['field'] },
    new_calls: { args: ['field', 'value'] },
    dropped_calls: { args: ['field'] },
    consumed: { args: ['field'] },
    memory_ends: MEMORY_END_ROW,
    nodes: { args: ['field', 'value', 'event'] },
    remembered: REMEMBER_ROW,
  },
  answers: {
    fenced: "the claim is not the caller's",
    'more-keys': 'nothing is stored: the step needs the keys that the caller has left out',
    rewound: 'the store has an older state of the run than the step follows',
    seen: 'another run has seen one of the keys to remember',
    'too-large': 'with its outputs or reply the run would be above its limit',
    '0 to 3': 'stored; with 1 where the run is to be cancelled, and 2 where it has unread signals',
  },
  body: `
    ${FENCE}
    ${NOW}
    local accepted, before, bytes, progress, known_reply, event_count, event_bytes, group, version = unpack(
      redis.call('HMGET', run, 'accepted', 'sequence', 'bytes', 'progress', 'reply', 'evcount', 'evbytes', 'wf', 'signaled'))
    if not items and (not group or park ~= '' or phase == 'Failed') then return 'more-keys' end
    if not group then
      ${MISSING_RUN}
      return fail_missing(run_id)
    end
    before = tonumber(before)
    follows = tonumber(follows) or before
    -- Stored before: the answer was lost, or the network delayed the call until the run had advanced.
    local unread = (version or '') ~= read and 2 or 0
    if before > follows then return redis.call('SISMEMBER', cancels, run_id) + unread end
    -- The store was restored to an older state. Records of what is lost exist, so that the sequence continues
    -- after them.
    if before < follows and whole ~= '1' then return 'rewound' end
    local sequence = follows + 1
    ${EVENTS}
    ${IS_SEEN}
    ${REFUSE_SEEN}
    local is_first_reply = reply ~= '' and not known_reply
    ${STEP_FIELDS}
    bytes = tonumber(bytes) + added
    if (outputs == '1' or is_first_reply) and bytes + tonumber(reserved) > ${RUN_LIMIT_BYTES} then return 'too-large' end
    ${END_MEMORIES}
    ${REMEMBER}
    if whole == '1' then redis.call('HDEL', run, 'restored', 'doubt') end
    if whole == '1' and in_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
    ${EMIT_NODES}
    ${STORE_ITEMS}

    if phase ~= '' then
      fields[#fields + 1] = 'bytes'
      fields[#fields + 1] = bytes
      ${ENQUEUE}
      ${END}
      end_run(group, true, accepted, sequence, added, bytes, fields)
      redis.call('HDEL', claims, run_id)
      return 0
    end
    local is_cancelled = redis.call('SISMEMBER', cancels, run_id)
    if park ~= '' and memoryLocks then
      ${HAS_MEMORY}
      if has_memory(run_id) then unread = 2 end
    end
    local is_parked = park ~= '' and is_cancelled == 0 and unread == 0
    if is_parked then
      ${PARK_RUN}
    end
    ${STORE_FIELDS}
    write_events(is_parked and ${PARKED_EVENT_BYTES} or nil)
    redis.call('ZADD', unrecorded, 'NX', now + ${COALESCE_MS}, run_id)
    redis.call('HSET', run, 'bytes', bytes, 'evcount', event_count, 'evbytes', event_bytes, 'sequence', sequence,
      'progress', checkpoints == '1' and 1 or progress, unpack(fields, 1, math.min(#fields, ${UNPACK_LIMIT})))
    store_fields(fields, ${UNPACK_LIMIT} + 1)
    if added ~= 0 then redis.call('HINCRBY', meta, 'bytes', added) end
    if outputs == '1' then
      ${LEARN_GROWTH}
      local expected = redis.call('HGET', meta, 'growth')
      local learnt = learn_growth(expected, bytes, false)
      if learnt ~= tonumber(expected) then redis.call('HSET', meta, 'growth', learnt) end
    end
    if is_parked then
      ${RELEASE_RUN}
    end
    redis.call('PUBLISH', run, is_first_reply and 'reply' or 'event')
    return is_cancelled + unread
  `,
});

/** Sends the step with few keys where that is likely to be enough. */
export async function sendStep(
  conn: RunStoreConnection,
  ref: ClaimRef,
  args: (string | number)[],
  {
    remember,
    parkMs,
    end,
  }: { remember: readonly Remembered[] } & { [K in 'parkMs' | 'end']: Advance[K] | undefined },
): Promise<unknown> {
  if (ref.isPlain && remember.length === 0 && parkMs === undefined && end?.phase !== 'Failed') {
    const answer = await conn.script(ADVANCE, requiredKeys(ADVANCE, ref), args);
    if (answer !== 'more-keys') return answer;
  }
  return conn.script(ADVANCE, keysOfStep(ref, remember), args);
}

function keysOfStep(ref: ClaimRef, remember: readonly Remembered[]): string[] {
  return [...scriptKeys(ADVANCE, ref), ...remember.map(({ node }) => seenKey(ref, node))];
}
