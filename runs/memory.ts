/**
 * The memory of agents: turns of conversations that later runs of the workflow continue, by name and key.
 * Guarantees: one run at a time uses a memory; the turn of an agent is stored in the script that stores its
 * end, once, also after a takeover; a run that was accepted before the memory was deleted stores none.
 */
import { createHash } from 'node:crypto';
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { FENCE } from './lua.ts';
import { ASK_MEMORY, RELEASE_MEMORIES } from './memoryLocks.ts';
import { scriptKeys } from './scriptKeys.ts';
import type { MemoryEnd, MemorySpace } from './types/advance.ts';
import type { ClaimRef } from './types/claim.ts';

/** What one key may have: the oldest turns leave first. */
export const MEMORY_LIMIT_BYTES = 256 * 1024;
export const MOST_TURNS = 200;
/**
 * Bytes of a turn, and of a memory, beside their texts; measured in
 * `test/integration/runs/agentMemory.test.ts`.
 */
export const TURN_OVERHEAD_BYTES = 100;
export const MEMORY_OVERHEAD_BYTES = 450;
/** The memories of a project may take this part of its quota. */
export const MEMORY_PART = 1 / 4;

/**
 * The rows of a script that ends agents with a memory. `space` is empty where it is not known.
 */
export const MEMORY_END_ROW = { args: ['node', 'space', 'turn', 'name', 'key', 'ttl'] } as const;

/**
 * `read_memory(space)`: first and next number, bytes, deletion time, name and key; nil for an unknown memory.
 */
export const READ_MEMORY = defineFragment({
  needs: ['memories'],
  gives: ['read_memory'],
  lua: `
local function read_memory(space)
  local first, next_turn, bytes, deleted, name, key = string.match(
    redis.call('HGET', memories, space) or '', '^(%d+) (%d+) (%d+) %d+ %d+ (%d+) ([^ ]+) (.*)$')
  return tonumber(first), tonumber(next_turn), tonumber(bytes), tonumber(deleted), name, key
end
`,
});

/**
 * `remember(space, turn, name, key, ttl)`: adds the turn, drops the oldest ones beyond the limits, and counts
 * the bytes. Reads come first: a key of a wrong type fails the script before the turn is stored.
 */
const REMEMBER_TURN = defineFragment({
  needs: ['meta', 'memory', 'memories', 'memoryExpiry', 'read_memory', 'accepted', 'group', 'now', 'wall'],
  gives: ['remember'],
  lua: `
local function remember(space, turn, name, key, ttl)
  local first, next_turn, bytes, deleted = read_memory(space)
  if deleted and deleted >= tonumber(accepted) then return end
  local before = bytes or 0
  first, next_turn, deleted = first or 0, next_turn or 0, deleted or 0
  if first == next_turn then bytes = ${MEMORY_OVERHEAD_BYTES} + 2 * (#name + #key) end
  redis.call('HSTRLEN', memory, space)
  redis.call('ZSCORE', memoryExpiry, group .. '/' .. space)
  redis.call('HSET', memory, space .. '.' .. next_turn, turn)
  bytes, next_turn = bytes + #turn + ${TURN_OVERHEAD_BYTES}, next_turn + 1
  while first < next_turn - 1 and (bytes > ${MEMORY_LIMIT_BYTES} or next_turn - first > ${MOST_TURNS}) do
    local oldest = space .. '.' .. first
    bytes = bytes - redis.call('HSTRLEN', memory, oldest) - ${TURN_OVERHEAD_BYTES}
    redis.call('HDEL', memory, oldest)
    first = first + 1
  end
  local expires = string.format('%.0f', now + ttl)
  redis.call('HSET', memories, space, first .. ' ' .. next_turn .. ' ' .. bytes .. ' ' .. string.format('%.0f', wall)
    .. ' ' .. expires .. ' ' .. string.format('%.0f', deleted) .. ' ' .. name .. ' ' .. key)
  redis.call('ZADD', memoryExpiry, expires, group .. '/' .. space)
  redis.call('HINCRBY', meta, 'bytes', bytes - before)
  redis.call('HINCRBY', meta, 'memory', bytes - before)
end
`,
});

/**
 * Stores the turns of agents that have ended, if their node owns the memory, and releases it. It is released
 * first: where the script fails later, its repetition does not store the turn again.
 */
export const END_MEMORIES = defineFragment({
  needs: [
    'meta',
    'memory',
    'memories',
    'memoryExpiry',
    'memoryLocks',
    'run_id',
    'accepted',
    'group',
    'now',
    'wall',
    'memory_ends',
    'memory_ends_count',
    'parked',
    'signaled',
  ],
  lua: `
if tonumber(memory_ends_count) > 0 then
${READ_MEMORY}
${REMEMBER_TURN}
${RELEASE_MEMORIES}
for _, node, space, turn, name, key, ttl in memory_ends() do
  local owner, of_node = string.match(
    redis.call('HGET', memoryLocks, group .. '/' .. space) or '', '^%a ([^ ]+) ([^ ]+)')
  if space == '' then release_memories(run_id, node)
  else release_memory(group .. '/' .. space, run_id, node) end
  if turn ~= '' and owner == run_id and of_node == node then remember(space, turn, name, key, tonumber(ttl)) end
end
end
`,
});

const ASK = defineScript({
  flags: 'drains',
  keys: ['meta', 'claims', 'run', 'memory', 'memories', 'memoryLocks'],
  args: ['run_id', 'token', 'node', 'space', 'most'],
  answers: {
    fenced: "the claim is not the caller's",
    granted:
      'first of a list: the node owns the memory until it has ended; the newest turns follow, oldest first',
    waiting: 'other runs are before this one',
    full: 'too many are before this one: it does not wait',
  },
  body: `
    ${FENCE}
    local group, accepted = unpack(redis.call('HMGET', run, 'wf', 'accepted'))
    if not group then return 'fenced' end
    ${ASK_MEMORY}
    ${READ_MEMORY}
    local first, next_turn = read_memory(space)
    local entry = group .. ' ' .. accepted .. ' ' .. run_id
    local asked = ask_memory(group .. '/' .. space, run_id, node, entry)
    if asked ~= 'granted' then return asked end
    local turns = {'granted'}
    for turn = math.max(first or 0, (next_turn or 0) - most), (next_turn or 0) - 1 do
      turns[#turns + 1] = redis.call('HGET', memory, space .. '.' .. turn)
    end
    return turns
  `,
});

/**
 * `granted`: the newest turns, the oldest first. The memory stays with the node until it has ended.
 * `waiting`: other runs are before this one; ask again after a signal of the run. `full`: so many that this
 * one does not wait.
 */
export type AskedMemory =
  | { outcome: 'granted'; turns: string[] }
  | { outcome: 'waiting' | 'full' | 'fenced' }
  | Unavailable;

/** Asks for the memory on behalf of a node. `node`: its located key. `most`: turns. */
export function askMemory(
  conn: RunStoreConnection,
  ref: ClaimRef,
  { node, space, most }: { node: string; space: MemorySpace; most: number },
): Promise<AskedMemory> {
  return orUnavailable(async () => {
    const args = argumentsOf(ASK, {
      run_id: ref.run,
      token: ref.token,
      node,
      space: spaceOf(space),
      most,
    });
    const answer = (await conn.script(ASK, scriptKeys(ASK, ref), args)) as
      | string[]
      | 'waiting'
      | 'full'
      | 'fenced';
    return typeof answer === 'string' ? { outcome: answer } : { outcome: 'granted', turns: answer.slice(1) };
  });
}

/** The arguments of `MEMORY_END_ROW`s. */
export function memoryEndRows(ends: readonly MemoryEnd[]): (string | number)[][] {
  return ends.map(({ node, space, remembered }) => {
    if (!remembered) return [node, space ? spaceOf(space) : '', '', '', '', ''];
    const { name, key, turn, ttlMs } = remembered;
    return [node, spaceOf(remembered), turn, name, key, ttlMs];
  });
}

/** How a memory is named within its group. */
export function spaceOf({ name, key }: MemorySpace): string {
  return createHash('sha256')
    .update(JSON.stringify([name, key]))
    .digest('base64url')
    .slice(0, 22);
}
