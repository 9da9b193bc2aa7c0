/** The script of `submit`: stores events as runs, each as a whole or not at all. */
import { NOW } from '../store/lua.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { ADD_CHILD, LIMIT_DESCENDANTS, REQUIRE_PARENT } from './children.ts';
import { ENQUEUE } from './lua.ts';
import { DEDUPE_KEY_BYTES, EXPIRING } from './room.ts';

/** `read_keys()`: bytes of dedupe keys that have not expired, and how many the project may store. */
const READ_KEYS = defineFragment({
  needs: ['meta', 'expiring', 'now'],
  gives: ['read_keys'],
  lua: `
local function read_keys()
  ${EXPIRING}
  subtract_expired(redis.call('HGET', meta, 'settled'))
  local bytes, quota = unpack(redis.call('HMGET', meta, 'keys', 'keyQuota'))
  return tonumber(bytes or 0), tonumber(quota or 'inf')
end
`,
});

/**
 * `replace_oldest(victims)`: at the limit, the oldest runs of the group make room. They are requested to end,
 * durably, and added to `victims`; the run that replaces each is stored. Runs that wait without a slot count
 * too, because a newer run replaces them all the same.
 */
const REPLACE = defineFragment({
  needs: ['replaceable', 'cancels', 'replaced', 'group', 'run_id', 'limit', 'entry'],
  gives: ['replace_oldest'],
  lua: `
local function replace_oldest(victims)
  local others = {}
  for _, other in ipairs(redis.call('ZRANGEBYLEX', replaceable, '[' .. group .. ' ', '(' .. group .. '!')) do
    local name = string.match(other, '[^ ]+$')
    if redis.call('SISMEMBER', cancels, name) == 0 then others[#others + 1] = name end
  end
  for index = 1, #others - limit + 1 do
    victims[#victims + 1] = others[index]
    redis.call('HSET', replaced, others[index], run_id)
    redis.call('SADD', cancels, others[index])
    redis.call('PUBLISH', cancels, others[index])
  end
  redis.call('ZADD', replaceable, 0, entry)
end
`,
});

/**
 * `accept(…)`: stores one event. What the events of a call share, and what each changes for the next one, is
 * in locals of the script.
 */
const ACCEPT = defineFragment({
  needs: [
    'overLimit',
    'replaceable',
    'cancels',
    'replaced',
    'runs',
    'items',
    'meta',
    'expiring',
    'claims',
    'siblings',
    'descendants',
    'group',
    'parent_run',
    'parent_token',
    'parent_waits',
    'in_doubt',
    'nodes',
    'item_nodes',
    'now',
    'last_at',
    'bytes',
    'quota',
    'virtual',
    'vars',
    'limit_text',
    'limit',
    'policy',
    'timeout',
    'active',
    'own',
    'total',
    'suspended',
    'key_bytes',
    'key_quota',
    'accepted',
    'enqueue',
  ],
  gives: ['accept'],
  lua: `
local function accept(index, run_id, body_hash, size, head, input, run, dedupe)
  ${REQUIRE_PARENT}
  local has_key = dedupe ~= run
  if has_key then
    -- An error would end the script in the middle of a call, with what it has stored uncounted.
    local found = redis.pcall('HMGET', dedupe, 'run', 'body', 'reply', 'phase')
    if found.err then return {'damaged'} end
    local known, known_hash, reply, phase = unpack(found)
    -- The body of a key that was restored from a record may be unknown.
    if known and known_hash ~= '' and known_hash ~= body_hash then return {'conflict', known} end
    if known then return {'duplicate', known, reply or '', phase or ''} end
  end
  if redis.call('EXISTS', run) == 1 then return {'taken'} end
  ${LIMIT_DESCENDANTS}
  if bytes + size > quota then return {'full'} end
  if has_key then
    if not key_bytes then
      ${READ_KEYS}
      key_bytes, key_quota = read_keys()
    end
    -- No key expires early, so that without room for another one no event with a key is accepted.
    if key_bytes + ${DEDUPE_KEY_BYTES} > key_quota then return {'full', 'keys'} end
  end
  if suspended == '1' then return {'suspended'} end
  local is_over = active >= limit
  if is_over and policy == 'Reject' then return {'rejected', limit_text} end

  -- No two events are accepted at the same time: it is their order.
  last_at = last_at + 1
  accepted = string.format('%.0f', last_at)
  local entry = group .. ' ' .. accepted .. ' ' .. run_id
  redis.call('ZADD', runs, accepted, run_id)
  if is_over then
    redis.call('ZADD', overLimit, 0, entry)
  else
    own = enqueue(entry, virtual, own)
    active = active + 1
  end
  local answer = {'accepted'}
  if policy == 'Replace' then
    ${REPLACE}
    replace_oldest(answer)
  end
  redis.call('HSET', run, 'phase', 'Pending', 'wf', group, 'accepted', accepted, 'bytes', size,
    'timeout', timeout or '', 'head', head, 'input', input)
  if vars then redis.call('HSET', run, 'vars', vars) end
  if in_doubt == '1' then redis.call('HSET', run, 'doubt', 1) end
  ${ADD_CHILD}
  for _, field, value in nodes() do redis.call('HSET', run, field, value) end
  for _, field, value in item_nodes() do redis.call('HSET', items, field, value) end
  if has_key then
    redis.call('HSET', dedupe, 'run', run_id, 'body', body_hash)
    key_bytes = key_bytes + ${DEDUPE_KEY_BYTES}
  end
  bytes = bytes + size
  total = total + 1
  return answer
end
`,
});

/** Accepts events of one group, as if they came one after the other. */
export const SUBMIT = defineScript({
  transitions: ['none > ready', 'none > overLimit'],
  keys: [
    'meta',
    'ready',
    'overLimit',
    'replaceable',
    'cancels',
    'replaced',
    'wf',
    'runs',
    'expiring',
    'claims',
    // Of the first event: a child run, and a run that resumes another one, are the only one of their call.
    'items',
    'siblings',
    'descendants',
  ],
  args: [
    'group',
    // Of a child run: its parent, the token of the claim of the parent, and 1 where the parent waits for it.
    'parent_run',
    'parent_token',
    'parent_waits',
    // 1 where effects of the run may have happened: its parent, or the run that it resumes, is in doubt.
    'in_doubt',
  ],
  lists: {
    // What a run keeps of the run that it resumes.
    nodes: { args: ['field', 'value'] },
    item_nodes: { args: ['field', 'value'] },
    // The key of the run stands for the one of its dedupe key where it has none.
    events: { args: ['run_id', 'body_hash', 'size', 'head', 'input'], keys: ['run', 'dedupe'] },
  },
  answers: {
    accepted: 'and the runs that this one replaces',
    duplicate: 'the run of the same event, its reply or an empty text, and its phase once it is recorded',
    conflict: 'the run with the same dedupe key, but another body',
    taken: 'there is a run of this name',
    damaged: 'the dedupe key is of a wrong type',
    full: 'no room for the run, or with `keys` none for its dedupe key',
    suspended: 'the workflow is suspended',
    rejected: 'the limit that the policy `Reject` enforces',
    fenced: 'the claim of the parent is another one',
    stopped: 'the parent is to be cancelled',
    'too-many': 'the root has as many descendants as it may have',
  },
  body: `
    local store_id, bytes, quota, virtual, vars = unpack(redis.call('HMGET', meta, 'id', 'bytes', 'quota', 'v', 'vars'))
    if not store_id then return redis.error_reply('NOLOG the run store is empty') end
    ${NOW}
    local limit_text, policy, timeout, active, own, total, suspended = unpack(
      redis.call('HMGET', wf, 'limit', 'policy', 'timeout', 'active', 'vt', 'accepted', 'suspended'))
    bytes, quota, active, total = tonumber(bytes or 0), tonumber(quota or 'inf'), tonumber(active or 0), tonumber(total or 0)
    local limit, last_at = tonumber(limit_text or 'inf'), time[1] * 1000000 + time[2] - 1
    local key_bytes, key_quota, accepted
    ${ENQUEUE}
    ${ACCEPT}
    local answers = {}
    for index, run_id, body_hash, size, head, input, run, dedupe in events() do
      answers[index] = accept(index, run_id, body_hash, size, head, input, run, dedupe)
    end
    if accepted then
      redis.call('HSET', meta, 'bytes', bytes)
      if key_bytes then redis.call('HSET', meta, 'keys', key_bytes) end
      redis.call('HSET', wf, 'active', active, 'vt', own or 0, 'accepted', total, 'last', accepted)
    end
    return answers
  `,
});
