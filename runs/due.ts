/**
 * Makes parked runs ready when they are due, by the project's clock alone. Every runner of the project does,
 * so that it happens as long as one lives. It costs one call, also when thousands wait.
 */
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import type { RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { defineFragment, defineScript } from '../store/script.ts';
import { ENQUEUE } from './lua.ts';
import { createPollingPace, type Pace } from './pace.ts';
import { groupOfEntry } from './queueEntry.ts';

/**
 * `wake(entry, wf)`: the run takes a slot of its workflow's limit again, or waits over the limit until there
 * is one, the oldest first. Without room in the store, runs that have begun precede all others, because their
 * ends make room.
 */
export const WAKE = defineFragment({
  needs: ['ready', 'overLimit', 'parked', 'virtual', 'short', 'enqueue'],
  gives: ['wake'],
  lua: `
local function wake(entry, wf)
  local active, limit, own, known = unpack(redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted'))
  active = tonumber(active or 0)
  if active >= tonumber(limit or 'inf') then
    redis.call('ZADD', overLimit, 0, entry)
    redis.call('ZREM', parked, entry)
    return
  end
  if short == '1' then
    redis.call('ZADD', ready, tonumber(virtual or 0) - 1, entry)
    redis.call('PUBLISH', ready, entry)
  else
    own = enqueue(entry, virtual, own)
  end
  redis.call('ZREM', parked, entry)
  -- A write would create the hash of a dropped workflow again.
  if known then redis.call('HSET', wf, 'active', active + 1, 'vt', own or 0) end
end
`,
});

/** Wakes runs that are due, of those whose group the caller names: a script must declare its keys. */
const WAKE_DUE = defineScript({
  flags: 'drains',
  transitions: ['parked > ready', 'parked > overLimit'],
  keys: ['meta', 'ready', 'overLimit', 'parked'],
  args: ['count'],
  lists: { groups: { args: ['group'], keys: ['wf'] } },
  answers:
    'the entries that are due and whose group was not named; milliseconds until the next run is due, or -1',
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    ${ENQUEUE}
    local virtual, short = unpack(redis.call('HMGET', meta, 'v', 'short'))
    ${WAKE}
    local declared, others = {}, {}
    for _, group, wf in groups() do declared[group] = wf end
    for _, entry in ipairs(redis.call('ZRANGE', parked, '-inf', now, 'BYSCORE', 'LIMIT', 0, count)) do
      local wf = declared[string.match(entry, '^[^ ]+')]
      if wf then wake(entry, wf) else others[#others + 1] = entry end
    end
    local next_at = redis.call('ZRANGE', parked, 0, 0, 'WITHSCORES')[2]
    return {others, next_at and math.max(0, next_at - now) or -1}
  `,
});

/** Due runs that one call reads. */
const PAGE = 200;
/** The longest time between two calls of a busy runner: runs may be parked meanwhile. */
const LONGEST_MS = 1_000;
/** The shortest: runs that become due in this time become ready together. */
const SHORTEST_MS = 10;

/**
 * Makes due runs ready, and answers in how many milliseconds the next run is due; undefined where none waits.
 */
export function wakeDue(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ outcome: 'done'; nextMs: number | undefined } | Unavailable> {
  const { meta, ready, overLimit, parked, wf } = keysOf(project);
  return orUnavailable(async () => {
    let groups: RunGroup[] = [];
    for (;;) {
      const keys = [meta, ready, overLimit, parked, ...groups.map(wf)];
      const answer = await conn.script(WAKE_DUE, keys, [PAGE, ...groups]);
      const [others, next] = answer as [string[], number];
      if (others.length === 0 && next !== 0) return { outcome: 'done', nextMs: next < 0 ? undefined : next };
      groups = [...new Set(others.map(groupOfEntry))];
    }
  });
}

/**
 * Wakes runs until the signal is aborted: when the next run is due, and when its pace says so. A busy runner
 * reads once a second.
 */
export function createDueSweep(
  conn: RunStoreConnection,
  project: ProjectUid,
  pace: Pace = createPollingPace(),
): { run(signal: AbortSignal): Promise<void> } {
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const woken = await wakeDue(conn, project);
        const { nextMs = Infinity } = isUnavailable(woken) ? { nextMs: LONGEST_MS } : woken;
        await pace.wait({ busyMs: LONGEST_MS, nextMs: Math.max(SHORTEST_MS, nextMs) }, signal);
      }
    },
  };
}
