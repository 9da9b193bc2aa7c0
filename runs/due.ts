/**
 * Makes parked runs ready again when their time has come, by the store's clock alone. Every runner of the project looks, so
 * that it happens as long as one lives; a look costs one call, also when thousands wait.
 */
import { sleep } from '../kube/clock.ts';
import {
  isUnavailable,
  orUnavailable,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import type { RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { ENQUEUE } from './lua.ts';
import { defineScript } from '../store/script.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';

/**
 * Makes ready, of the runs that are due, those whose group the caller has named: a script must declare its keys. Answers
 * with the others that are due, so that the next call can name theirs, and with the time until the next one is. A run
 * takes a slot of its workflow's limit again, or is held until there is one: the oldest first.
 */
const WAKE_DUE = defineScript({
  flags: 'drains',
  keys: ['meta', 'q', 'held', 'due'],
  args: ['count'],
  body: `
    ${REQUIRE_STORE}
    ${NOW}
    ${ENQUEUE}
    local declared = {}
    for index = 2, #ARGV do
      declared[ARGV[index]] = KEYS[index + 3]
    end
    local project = redis.call('HMGET', meta, 'v', 'short')
    local virtual = project[1]
    local others = {}
    for _, entry in ipairs(redis.call('ZRANGE', due, '-inf', now, 'BYSCORE', 'LIMIT', 0, count)) do
      local wf = declared[string.match(entry, '^[^ ]+')]
      if wf then
        local counts = redis.call('HMGET', wf, 'active', 'limit', 'vt', 'accepted')
        local active = tonumber(counts[1] or 0)
        if active >= tonumber(counts[2] or 'inf') then
          redis.call('ZADD', held, 0, entry)
          redis.call('ZREM', due, entry)
        else
          local own = counts[3] or 0
          if project[2] == '1' then
            -- Where the store has no room, runs that have begun go before all others: their ends make room.
            redis.call('ZADD', q, tonumber(virtual or 0) - 1, entry)
            redis.call('PUBLISH', q, entry)
          else
            own = enqueue(entry, virtual, own)
          end
          redis.call('ZREM', due, entry)
          -- Of a workflow that was dropped nothing is counted, or its hash would be there again.
          if counts[4] then
            redis.call('HSET', wf, 'active', active + 1, 'vt', own)
          end
        end
      else
        others[#others + 1] = entry
      end
    end
    local next = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
    return {others, next and math.max(0, next - now) or -1}
  `,
});

/** Runs looked at by one call. */
const PAGE = 200;
/** The longest time between two looks: what another runner parks meanwhile is not known here. */
const LONGEST_MS = 1_000;
/** The shortest: what has become due in this time is made ready together. */
const SHORTEST_MS = 10;

/** Makes ready what is due, and says in how many milliseconds the next run is; undefined where none waits. */
export function wakeDue(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ outcome: 'done'; nextMs: number | undefined } | Unavailable> {
  const { meta, q, held, due, wf } = keysOf(project);
  return orUnavailable(async () => {
    let groups: RunGroup[] = [];
    for (;;) {
      const answer = await conn.script(WAKE_DUE, [meta, q, held, due, ...groups.map(wf)], [PAGE, ...groups]);
      const [others, next] = answer as [string[], number];
      if (others.length === 0 && next !== 0) return { outcome: 'done', nextMs: next < 0 ? undefined : next };
      groups = [...new Set(others.map((entry) => entry.slice(0, entry.indexOf(' '))))];
    }
  });
}

/** Looks until the signal is aborted: when the next run is due, and at least once a second. */
export function createDueSweep(
  conn: RunStoreConnection,
  project: ProjectUid,
): { run(signal: AbortSignal): Promise<void> } {
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const woken = await wakeDue(conn, project);
        const next = isUnavailable(woken) ? LONGEST_MS : (woken.nextMs ?? LONGEST_MS);
        await sleep(Math.max(SHORTEST_MS, Math.min(next, LONGEST_MS)), signal);
      }
    },
  };
}
