/**
 * Deletes and expires the memories of agents. A deleted memory leaves the time of its deletion behind, so
 * that runs that were accepted before do not store their turns.
 */
import type { Log } from '../kube/log.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { groupsOf } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { MEMORY_OVERHEAD_BYTES, MEMORY_PART, READ_MEMORY, spaceOf } from './memory.ts';
import { headsOf } from './memoryList.ts';
import { createPollingPace, type Pace } from './pace.ts';
import type { MemorySpace } from './types/advance.ts';

/** How long the time of a deletion is stored. */
const DELETION_KEPT_MS = 90 * 24 * 3_600_000;
const SWEEP_MS = 10_000;
/** Memories of one script. */
const AT_ONCE = 50;

/** `remove_turns(space)`: removes the turns of the memory. Returns its bytes and the time of its deletion. */
const REMOVE_TURNS = defineFragment({
  needs: ['memory', 'read_memory'],
  gives: ['remove_turns'],
  lua: `
local function remove_turns(space)
  local first, next_turn, bytes, deleted = read_memory(space)
  for turn = first or 0, (next_turn or 0) - 1 do redis.call('HDEL', memory, space .. '.' .. turn) end
  return bytes or 0, deleted or 0
end
`,
});

/** `note_deletion(space, member, at)`: the memory has no turns and was deleted then (µs). */
const NOTE_DELETION = defineFragment({
  needs: ['memories', 'memoryExpiry', 'now'],
  gives: ['note_deletion'],
  lua: `
local function note_deletion(space, member, at)
  local expires = string.format('%.0f', now + ${DELETION_KEPT_MS})
  redis.call('HSET', memories, space, '0 0 ${MEMORY_OVERHEAD_BYTES} 0 ' .. expires .. ' ' .. string.format('%.0f', at) .. ' - ')
  redis.call('ZADD', memoryExpiry, expires, member)
end
`,
});

const FORGET = defineScript({
  flags: 'drains',
  keys: ['meta', 'memory', 'memories', 'memoryExpiry'],
  args: ['group', 'space'],
  answers: 'how many turns the memory had',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    ${READ_MEMORY}
    ${REMOVE_TURNS}
    ${NOTE_DELETION}
    local first, next_turn = read_memory(space)
    local bytes = remove_turns(space)
    -- Runs are accepted at microseconds: those of this millisecond count as earlier.
    note_deletion(space, group .. '/' .. space, wall * 1000 + 999)
    redis.call('HINCRBY', meta, 'bytes', ${MEMORY_OVERHEAD_BYTES} - bytes)
    redis.call('HINCRBY', meta, 'memory', ${MEMORY_OVERHEAD_BYTES} - bytes)
    return (next_turn or 0) - (first or 0)
  `,
});

/**
 * Removes memories that have expired, and while the memories take more than their part of the quota, those
 * that expire first, unless a run uses them.
 */
const EXPIRE = defineScript({
  flags: 'drains',
  keys: ['meta', 'memoryExpiry', 'memoryLocks'],
  args: ['all'],
  lists: { expiring: { args: ['member'], keys: ['memory', 'memories'] } },
  answers: 'how many memories are removed',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    local memory, memories
    ${READ_MEMORY}
    ${REMOVE_TURNS}
    ${NOTE_DELETION}
    local taken, quota = unpack(redis.call('HMGET', meta, 'memory', 'quota'))
    taken = tonumber(taken or 0)
    local limit, removed = (tonumber(quota) or math.huge) * ${MEMORY_PART}, 0
    for _, member, turns, heads in expiring() do
      memory, memories = turns, heads
      local expires = tonumber(redis.call('ZSCORE', memoryExpiry, member))
      local is_expired = expires and expires <= now
      local space = string.match(member, '[^/]+$')
      local first, next_turn = read_memory(space)
      local is_over = taken > limit and first ~= next_turn and redis.call('HEXISTS', memoryLocks, member) == 0
      if all == '1' or is_expired or is_over then
        local bytes, deleted = remove_turns(space)
        if all ~= '1' and bytes > ${MEMORY_OVERHEAD_BYTES} and deleted / 1000 > wall - ${DELETION_KEPT_MS} then
          note_deletion(space, member, deleted)
          bytes = bytes - ${MEMORY_OVERHEAD_BYTES}
        else
          redis.call('HDEL', memories, space)
          redis.call('ZREM', memoryExpiry, member)
        end
        redis.call('HINCRBY', meta, 'bytes', 0 - bytes)
        redis.call('HINCRBY', meta, 'memory', 0 - bytes)
        taken, removed = taken - bytes, removed + 1
      end
    end
    return removed
  `,
});

/**
 * Deletes a memory, of live runs and of test runs. Runs that were accepted before store no turn of it.
 * Answers how many turns it had.
 */
export function forgetMemory(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  named: MemorySpace,
): Promise<{ outcome: 'done'; turns: number } | Unavailable> {
  const { meta, memory, memories, memoryExpiry } = keysOf(project);
  return orUnavailable(async () => {
    let turns = 0;
    for (const group of groupsOf(workflowUid)) {
      const keys = [meta, memory(group), memories(group), memoryExpiry];
      turns += (await conn.script(FORGET, keys, [group, spaceOf(named)])) as number;
    }
    return { outcome: 'done', turns };
  });
}

/** Removes the memories of a workflow. Throws as the connection does. */
export async function dropMemories(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
): Promise<void> {
  for (const group of groupsOf(workflowUid)) {
    const spaces: string[] = [];
    for await (const [space] of headsOf(conn, keysOf(project).memories(group)))
      spaces.push(`${group}/${space}`);
    for (let at = 0; at < spaces.length; at += AT_ONCE)
      await expire(conn, project, spaces.slice(at, at + AT_ONCE), true);
  }
}

/** Removes expired memories, and those beyond the limit of the project. Answers how many. */
export function expireMemories(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ outcome: 'done'; removed: number } | Unavailable> {
  return orUnavailable(async () => {
    let removed = 0;
    for (let from = 0; ; ) {
      const key = keysOf(project).memoryExpiry;
      const members = (await conn.command('zrange', key, from, from + AT_ONCE - 1)) as string[];
      const count = members.length === 0 ? 0 : await expire(conn, project, members, false);
      removed += count;
      // Memories that runs use are left out.
      if (count === 0) return { outcome: 'done', removed };
      from += members.length - count;
    }
  });
}

async function expire(
  conn: RunStoreConnection,
  project: ProjectUid,
  members: readonly string[],
  all: boolean,
): Promise<number> {
  const { meta, memoryExpiry, memoryLocks, memory, memories } = keysOf(project);
  const keys = members.flatMap((member) => {
    const group = member.slice(0, member.indexOf('/'));
    return [memory(group), memories(group)];
  });
  const args = argumentsOf(EXPIRE, { all: all ? '1' : '', expiring: members.map((member) => [member]) });
  return (await conn.script(EXPIRE, [meta, memoryExpiry, memoryLocks, ...keys], args)) as number;
}

/** Removes memories until the signal is aborted. Every runner of the project does. */
export function createMemorySweep({
  conn,
  project,
  log,
  pace = createPollingPace(),
}: {
  conn: RunStoreConnection;
  project: ProjectUid;
  log: Log;
  /** Default: that of a busy runner. */
  pace?: Pace;
}): { run(signal: AbortSignal): Promise<void> } {
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const swept = await expireMemories(conn, project);
        if (!isUnavailable(swept) && swept.removed > 0) log.info({ ...swept }, 'removed memories of agents');
        await pace.wait({ busyMs: SWEEP_MS, ...(isUnavailable(swept) && { nextMs: SWEEP_MS }) }, signal);
      }
    },
  };
}
