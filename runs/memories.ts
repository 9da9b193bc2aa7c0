/**
 * Lists, reads, deletes and expires the memories of agents. A deleted memory leaves the time of its deletion
 * behind, so that runs that were accepted before do not store their turns.
 */
import type { Log } from '../kube/log.ts';
import { sleep } from '../kube/clock.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { groupsOf, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineFragment, defineScript } from '../store/script.ts';
import { MEMORY_OVERHEAD_BYTES, MEMORY_PART, MOST_TURNS, READ_MEMORY, spaceOf } from './memory.ts';
import type { MemorySpace } from './types.ts';

/** How long the time of a deletion is stored. */
const DELETION_KEPT_MS = 90 * 24 * 3_600_000;
const SWEEP_MS = 10_000;
/** Memories of one script. */
const AT_ONCE = 50;
const PAGE = 500;

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

/** A memory in a list. `usedAt`: when its last turn was stored, in milliseconds since 1970. */
type ListedMemory = MemorySpace & { test: boolean; turns: number; bytes: number; usedAt: number };

/** `total`: how many memories match. `items`: those that were used last, the newest first. */
export type ListedMemories = { items: ListedMemory[]; total: number };

/** The memories of a workflow whose key contains the text. */
export function listMemories(
  conn: RunStoreConnection,
  project: ProjectUid,
  workflowUid: string,
  { contains = '', limit }: { contains?: string | undefined; limit: number },
): Promise<ListedMemories | Unavailable> {
  return orUnavailable(async () => {
    const found: ListedMemory[] = [];
    for (const [index, group] of groupsOf(workflowUid).entries())
      for await (const [, head] of headsOf(conn, keysOf(project).memories(group))) {
        const memory = parseHead(head, index === 1);
        if (memory?.key.includes(contains)) found.push(memory);
      }
    const items = found.toSorted((a, b) => b.usedAt - a.usedAt).slice(0, limit);
    return { items, total: found.length };
  });
}

/** The turns of a memory as JSON, the oldest first; undefined where there are none. */
export function readMemory(
  conn: RunStoreConnection,
  project: ProjectUid,
  group: RunGroup,
  named: MemorySpace,
): Promise<{ outcome: 'read'; turns: string[] } | { outcome: 'absent' } | Unavailable> {
  const { memory, memories } = keysOf(project);
  const space = spaceOf(named);
  return orUnavailable(async () => {
    const head = await conn.command('hget', memories(group), space);
    const [first = 0, next = 0] = typeof head === 'string' ? head.split(' ', 2).map(Number) : [];
    if (next === first) return { outcome: 'absent' };
    const fields = Array.from(
      { length: Math.min(next - first, MOST_TURNS) },
      (_, at) => `${space}.${first + at}`,
    );
    const turns = (await conn.command('hmget', memory(group), ...fields)) as (string | null)[];
    return { outcome: 'read', turns: turns.filter((turn) => turn !== null) };
  });
}

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
}: {
  conn: RunStoreConnection;
  project: ProjectUid;
  log: Log;
}): { run(signal: AbortSignal): Promise<void> } {
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const swept = await expireMemories(conn, project);
        if (!isUnavailable(swept) && swept.removed > 0) log.info({ ...swept }, 'removed memories of agents');
        await sleep(SWEEP_MS, signal);
      }
    },
  };
}

/** `<space>` and the stored head of each memory, page by page. */
async function* headsOf(
  conn: RunStoreConnection,
  key: string,
): AsyncGenerator<[space: string, head: string]> {
  let cursor = '0';
  do {
    const [next, page] = (await conn.command('hscan', key, cursor, 'count', PAGE)) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) yield [page[at] ?? '', page[at + 1] ?? ''];
    cursor = next;
  } while (cursor !== '0');
}

const HEAD = /^(\d+) (\d+) (\d+) (\d+) \d+ \d+ ([^ ]+) (.*)$/s;

/** Undefined for a memory without turns. */
function parseHead(head: string, test: boolean): ListedMemory | undefined {
  const [, first, next, bytes, used, name = '', key = ''] = HEAD.exec(head) ?? [];
  const turns = Number(next) - Number(first);
  return turns > 0 ? { name, key, test, turns, bytes: Number(bytes), usedAt: Number(used) } : undefined;
}
