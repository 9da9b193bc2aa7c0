/**
 * Which run uses the memory of an agent: one at a time, in the order in which they asked. The lock belongs to
 * a run and a node, not to a runner: it survives a takeover, and ends with the node or the run.
 * `store/keys.ts` says what the key holds.
 */
import { defineFragment } from '../store/script.ts';

/**
 * How many runs and nodes may wait for one memory. Each question reads the whole line: a longer one would
 * keep the run store, which all projects share, busy for milliseconds.
 */
export const LONGEST_LINE = 200;

/** The keys that scripts need which release memories. */
export const MEMORY_LOCK_KEYS = ['memoryLocks', 'parked', 'signaled'] as const;

/**
 * `release_memory(space, name, node)`: the node of the run no longer uses the memory or waits for it; without
 * a node, none of the run does. The next one owns it: its run is woken if it is parked, and told if a runner
 * has it. `release_memories(name, node)`: the same for all memories.
 */
export const RELEASE_MEMORIES = defineFragment({
  needs: ['memoryLocks', 'parked', 'signaled'],
  gives: ['release_memory', 'release_memories'],
  lua: `
local function leave_queue(space, name)
  local spaces = redis.call('HGET', memoryLocks, 'r:' .. name)
  if not spaces then return end
  local others = {}
  for other in string.gmatch(spaces, '[^ ]+') do if other ~= space then others[#others + 1] = other end end
  if #others == 0 then redis.call('HDEL', memoryLocks, 'r:' .. name)
  else redis.call('HSET', memoryLocks, 'r:' .. name, table.concat(others, ' ')) end
end
local function release_memory(space, name, node)
  local others, has_more = {}, false
  for line in string.gmatch(redis.call('HGET', memoryLocks, space) or '', '[^\\n]+') do
    local of_run, of_node = string.match(line, '^%a ([^ ]+) ([^ ]+)')
    if of_run ~= name or (node and of_node ~= node) then
      others[#others + 1] = line
      has_more = has_more or of_run == name
    end
  end
  if not has_more then leave_queue(space, name) end
  if not others[1] then return redis.call('HDEL', memoryLocks, space) end
  local state, next_run, entry = string.match(others[1], '^(%a) ([^ ]+) [^ ]+ (.+)$')
  if state == 'w' then
    others[1] = 'p' .. string.sub(others[1], 2)
    redis.call('ZADD', parked, 'XX', 0, entry)
    redis.call('PUBLISH', signaled, next_run)
  end
  redis.call('HSET', memoryLocks, space, table.concat(others, '\\n'))
end
local function release_memories(name, node)
  local spaces = redis.call('HGET', memoryLocks, 'r:' .. name)
  for space in string.gmatch(spaces or '', '[^ ]+') do release_memory(space, name, node) end
end
`,
});

/**
 * `has_memory(name)`: whether the run owns a memory and has not been told yet, so that it must not be parked.
 */
export const HAS_MEMORY = defineFragment({
  needs: ['memoryLocks'],
  gives: ['has_memory'],
  lua: `
local function has_memory(name)
  local spaces = redis.call('HGET', memoryLocks, 'r:' .. name)
  for space in string.gmatch(spaces or '', '[^ ]+') do
    local state, owner = string.match(redis.call('HGET', memoryLocks, space) or '', '^(%a) ([^ ]+)')
    if state == 'p' and owner == name then return true end
  end
  return false
end
`,
});

/**
 * `ask_memory(space, name, node, entry)`: 'granted' where the node owns the memory; 'waiting' where it waits
 * in the queue; 'full' where the queue is too long. No ancestor of the run can be before it and wait for it,
 * because no run is an ancestor of one of its workflow.
 */
export const ASK_MEMORY = defineFragment({
  needs: ['memoryLocks'],
  gives: ['ask_memory'],
  lua: `
local function ask_memory(space, name, node, entry)
  local lines, own = {}, nil
  for line in string.gmatch(redis.call('HGET', memoryLocks, space) or '', '[^\\n]+') do
    local of_run, of_node = string.match(line, '^%a ([^ ]+) ([^ ]+)')
    lines[#lines + 1] = line
    if of_run == name and of_node == node then own = #lines end
  end
  if not own and #lines > ${LONGEST_LINE} then return 'full' end
  own = own or #lines + 1
  lines[own] = (own == 1 and 'o ' or 'w ') .. name .. ' ' .. node .. ' ' .. entry
  redis.call('HSET', memoryLocks, space, table.concat(lines, '\\n'))
  local spaces = redis.call('HGET', memoryLocks, 'r:' .. name) or ''
  if not string.find(' ' .. spaces .. ' ', ' ' .. space .. ' ', 1, true) then
    redis.call('HSET', memoryLocks, 'r:' .. name, spaces == '' and space or spaces .. ' ' .. space)
  end
  return own == 1 and 'granted' or 'waiting'
end
`,
});
