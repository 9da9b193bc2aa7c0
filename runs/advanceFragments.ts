/** What the script of `advance` stores of a step, and which live events it emits. */
import { defineFragment } from '../store/script.ts';
import { UNPACK_LIMIT } from './lua.ts';

/**
 * Stands for the event of a node of the run that has succeeded in its first attempt, as most nodes do: calls
 * are smaller without its text.
 */
export const FIRST_SUCCESS = '+';

/** What is left of the consumed signal of an item: a repetition of it is answered like the first one. */
const CONSUMED = '{}';

/**
 * Stores items of loops, their nodes and calls of agents, and drops those of items and agents that have
 * ended, and consumed signals.
 */
export const STORE_ITEMS = defineFragment({
  needs: [
    'items',
    'item_nodes',
    'dropped',
    'calls',
    'new_calls',
    'dropped_calls',
    'signals',
    'consumed',
    'now',
  ],
  lua: `
for _, field, value, delay in item_nodes() do
  redis.call('HSET', items, field, value)
  if delay ~= '' then redis.call('HSET', items, 'w:' .. field, now + delay) end
end
for _, field in dropped() do redis.call('HDEL', items, field, 'w:' .. field) end
for _, field, value in new_calls() do redis.call('HSET', calls, field, value) end
for _, field in dropped_calls() do redis.call('HDEL', calls, field) end
for _, field in consumed() do
  if string.find(field, '/', 1, true) then
    redis.call('HSET', signals, field, '${CONSUMED}')
  else
    redis.call('HDEL', signals, field)
  end
end
`,
});

/**
 * `fields`: names and values of what the step stores, for one command. `added`: by how many bytes it makes
 * the run larger.
 */
export const STEP_FIELDS = defineFragment({
  needs: [
    'run',
    'items',
    'now',
    'reply',
    'is_first_reply',
    'waits',
    'nodes',
    'item_nodes',
    'dropped',
    'calls',
    'new_calls',
    'dropped_calls',
    'signals',
    'consumed',
  ],
  gives: ['fields', 'added'],
  lua: `
local fields, added = {}, is_first_reply and #reply or 0
for _, node, delay in waits() do
  fields[#fields + 1] = 'w:' .. node
  fields[#fields + 1] = now + delay
end
local names = {}
for _, field, value in nodes() do
  added = added + #value
  names[#names + 1] = field
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
for at = 1, #names, ${UNPACK_LIMIT} do
  local before = redis.call('HMGET', run, unpack(names, at, math.min(at + ${UNPACK_LIMIT} - 1, #names)))
  for index = 1, #before do if before[index] then added = added - #before[index] end end
end
for _, field, value in item_nodes() do added = added + #value - redis.call('HSTRLEN', items, field) end
for _, field in dropped() do added = added - redis.call('HSTRLEN', items, field) end
for _, field, value in new_calls() do added = added + #value - redis.call('HSTRLEN', calls, field) end
for _, field in dropped_calls() do added = added - redis.call('HSTRLEN', calls, field) end
for _, field in consumed() do
  local left = string.find(field, '/', 1, true) and ${CONSUMED.length} or 0
  added = added + left - redis.call('HSTRLEN', signals, field)
end
if is_first_reply then
  fields[#fields + 1] = 'reply'
  fields[#fields + 1] = reply
end
`,
});

/** Emits the events of nodes of the run and of items. */
export const EMIT_NODES = defineFragment({
  needs: ['nodes', 'item_nodes', 'emit'],
  lua: `
for _, field, _, event in nodes() do
  if event == '${FIRST_SUCCESS}' then
    event = '{"type":"node","node":"' .. string.sub(field, 3) .. '","phase":"Succeeded","attempt":1}'
  end
  if event ~= '' then emit(event) end
end
for _, _, _, _, event in item_nodes() do if event ~= '' then emit(event) end end
`,
});
